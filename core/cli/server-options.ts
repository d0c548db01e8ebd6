// The options of commands that ask a running server, and the client that they make.
import { Option, type Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { complain } from './output.ts'
import { serverClient, type ServerClient } from './server-client.ts'

export interface ServerOptions {
  readonly url?: string
  readonly certs?: string
  readonly as?: string
}

/** The first certificate that exists is used, where none is named. */
export const usualClients: readonly string[] = ['operator', 'client']

/** @param permission that the certificate needs, where the help says it */
export function addServerOptions(command: Command, clients = usualClients, permission?: string): Command {
  const needs = permission === undefined ? '' : `, with the permission ${permission}`
  return command
    .option('--url <url>', 'the running server (default: that of these settings, on this machine)')
    .option('--certs <folder>', 'the folder of the certificates (default: that of these settings)')
    .option('--as <name>', `the client whose certificate is used${needs} (default: ${clients.join(', else ')})`)
}

interface RequestFilters {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly wallet?: string | undefined
}

/** Filters by the names that requests have for them. */
export const requestedBy = <T extends RequestFilters>({ from, to, wallet, ...others }: T) => ({
  ...others,
  ...(from !== undefined && { since: from }),
  ...(to !== undefined && { until: to }),
  ...(wallet !== undefined && { address: wallet }),
})

/** @param timeoutMs by default longer than the server's own deadline, so that its TIMEOUT arrives */
export function serverOf(
  settings: Settings,
  { url, certs, as }: ServerOptions,
  { clients = usualClients, timeoutMs = (settings.server.requestTimeoutSeconds + 5) * 1000 } = {},
): ServerClient {
  return serverClient({
    settings,
    clients: as === undefined ? clients : [as],
    timeoutMs,
    ...(url !== undefined && { url }),
    ...(certs !== undefined && { certs }),
  })
}

/**
 * The former name of `--as`, which no help shows and which goes on to work. Before 0.3.0 it was `--client` in `sluice tx` and `sluice plugin lift`;
 * `--client` of `sluice stop` is whom it stops.
 */
export const formerAs = (): Option => new Option('--client <name>', 'the former name of --as').hideHelp()

/** The name of the certificate; undefined: the command chooses. */
export function certificateName({ as, client }: { as: string | undefined; client: string | undefined }): string | undefined {
  if (client !== undefined) complain('warning: --client is called --as by now, as in all commands, and goes away with a later version.')
  return as ?? client
}
