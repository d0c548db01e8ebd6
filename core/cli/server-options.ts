// The options of commands that ask a running server, and the client that they make.
import type { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
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
