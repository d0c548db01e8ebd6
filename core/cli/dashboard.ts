// `sluice dashboard`: the page of a running server for a browser on this machine, with the certificate of a client.
import { Command } from 'commander'
import { createSocketTable } from '../base/socket-table.ts'
import type { Settings } from '../config/settings.ts'
import { createDashboardDoor } from './dashboard-door.ts'
import { startLocalProxy, upstreamAt, type LocalProxy, type ProxyOptions } from './local-proxy.ts'
import { complain, examples, printError, say } from './output.ts'
import { addUser, portOf, stopSignal, tellsOwners } from './proxy.ts'
import { addServerOptions, usualClients, type ServerOptions } from './server-options.ts'
import { baseOf, certificateOf, ownName } from './server-client.ts'
import { reasonOf } from '../base/errors.ts'
import { withoutStop } from '../base/printable.ts'

interface Options extends ServerOptions {
  readonly port: number
  readonly user: readonly number[]
}

/** For requests under way once it is told to stop. */
const stopMs = 2_000

export function dashboardCommand(settingsOf: () => Settings): Command {
  const command = new Command('dashboard')
    .description('show the dashboard of a running server to a browser on this machine')
    .option('--port <number>', 'the port on 127.0.0.1 and ::1 (default: any that is free)', portOf, 0)
    .option(
      '--user <uid>',
      'a user of this machine, by number, whose browser may connect besides that of the one who runs this; may be repeated',
      addUser,
      [],
    )
  return addServerOptions(command)
    .addHelpText(
      'after',
      `${examples('dashboard', 'dashboard --as phone --url https://sluice.example.org:15888')}\nIt prints a link, which works once, and runs until it is stopped. The page may do what the certificate of the client may.`,
    )
    .action(async (options: Options) => {
      try {
        await run(options, settingsOf())
      } catch (error) {
        printError(reasonOf(error))
      }
    })
}

async function run({ port, user, url, certs, as: named }: Options, settings: Settings): Promise<void> {
  const { as, ...certificate } = certificateOf(certs ?? settings.ssl.certsDir, named === undefined ? usualClients : [named])
  const base = baseOf(settings, url)
  const upstream = { ...upstreamAt(base, url === undefined ? ownName : undefined), ...certificate }
  const door = createDashboardDoor()
  const owners = createSocketTable()
  const users = new Set([process.getuid?.() ?? -1, ...user])
  let proxy = await started({ port, upstream, door, log: complain, only: { users, owners } })
  if (!(await tellsOwners(owners, proxy.port))) {
    // The cookie alone says who may.
    await proxy.stop(0)
    proxy = await started({ port: proxy.port, upstream, door, log: complain })
  }
  const trouble = await proxy.probe()
  if (trouble !== undefined)
    complain(`The server at ${base.host} does not answer yet: ${withoutStop(trouble)}. The page shows it when it does.`)
  say(`Open this in a browser on this machine; it works once, and shows the server at ${base.host} as the client "${as}":`)
  say(door.link(proxy.port))
  say('Ctrl-C ends it.')
  await stopSignal()
  await proxy.stop(stopMs)
}

/** @throws Error with what to do where the port cannot be used */
async function started(options: ProxyOptions): Promise<LocalProxy> {
  try {
    return await startLocalProxy(options)
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause
    throw new Error(`Port ${options.port} cannot be used (${String(cause.code)}): choose another one with --port, or leave it out.`, {
      cause,
    })
  }
}
