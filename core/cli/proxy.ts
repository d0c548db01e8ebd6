// `sluice proxy`: plain HTTP on this machine for one bot, forwarded to an interface with the certificate of its client.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import type { Settings } from '../config/settings.ts'
import { substitute } from '../config/tree.ts'
import { readYaml } from '../config/yaml.ts'
import { startLocalProxy, upstreamAt, type LocalProxy, type ProxyOptions } from './local-proxy.ts'
import { complain, examples, printError, say } from './output.ts'
import { certificateOf, givenUrl, ownName, urlOf } from './server-client.ts'
import { createSocketTable, type SocketTable } from '../base/socket-table.ts'
import { reasonOf } from '../base/errors.ts'
import { withoutStop } from '../base/printable.ts'

interface Options {
  readonly client: string
  readonly interface?: string
  readonly port: number
  readonly url?: string
  readonly certs?: string
  readonly user: readonly number[]
  readonly anyUser?: true
}

/** Where Hummingbot's clients look. */
const usualPort = 15_888
/** For requests under way once it is told to stop: less than supervisors give. */
const stopMs = 8_000

export function proxyCommand(settingsOf: () => Settings): Command {
  return new Command('proxy')
    .description('serve plain HTTP on this machine to one bot, and send it on to an interface with the certificate of a client')
    .requiredOption('--client <name>', 'the client whose certificate is used')
    .option(
      '--interface <name>',
      'the interface of the server, by its file conf/interfaces/<name>.yml (default: the only one that has a port)',
    )
    .option('--port <number>', 'the port on 127.0.0.1 and ::1', portOf, usualPort)
    .option('--url <url>', 'the interface on another machine, such as https://sluice.example.org:15889')
    .option('--certs <folder>', 'the folder of the certificates (default: that of these settings)')
    .option(
      '--user <uid>',
      'a user of this machine, by number, who may connect besides the one that runs this; may be repeated',
      addUser,
      [],
    )
    .option('--any-user', 'let every user of this machine connect: whoever does trades as the client')
    .addHelpText('after', `${examples('proxy --client bot', 'proxy --client bot --port 15880')}\nIt runs until it is stopped.`)
    .action(async (options: Options) => {
      try {
        await run(options, settingsOf())
      } catch (error) {
        printError(reasonOf(error))
      }
    })
}

export function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Give a number from 0 to 65535.')
  return Number(text)
}

export function addUser(text: string, before: readonly number[]): number[] {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Give the number of a user, which `id -u` shows.')
  return [...before, Number(text)]
}

async function run(options: Options, settings: Settings): Promise<void> {
  const certsDir = options.certs ?? settings.ssl.certsDir
  const { as, ...certificate } = certificateOf(certsDir, [options.client])
  const url = options.url === undefined ? interfaceUrl(options.interface, settings) : givenUrl(options.url)
  const upstream = { ...upstreamAt(url, options.url === undefined ? ownName : undefined), ...certificate }
  const owners = options.anyUser ? undefined : createSocketTable()
  const users = new Set([process.getuid?.() ?? -1, ...options.user])
  const proxy = await started({ port: options.port, upstream, log: complain, ...(owners && { only: { users, owners } }) })
  if (owners && !(await tellsOwners(owners, proxy.port))) {
    await proxy.stop(0)
    throw new Error(
      'This system does not tell who is at the other end of a connection (/proc/net/tcp), so any user of it could trade as the client. Where that is all right, give --any-user.',
    )
  }
  say(
    `The interface at ${url.host} is served as the client "${as}" at http://localhost:${proxy.port}, to ${options.anyUser ? 'every user of this machine' : `the users ${[...users].join(', ')}`}.`,
  )
  const trouble = await proxy.probe()
  if (trouble !== undefined) complain(`It does not answer yet: ${withoutStop(trouble)}. Requests are refused until it does.`)
  await stopSignal()
  say('Stopping: requests under way may end.')
  await proxy.stop(stopMs)
}

/** @throws Error with what to do where the port cannot be used */
async function started(options: ProxyOptions): Promise<LocalProxy> {
  try {
    return await startLocalProxy(options)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    const why =
      error.code === 'EADDRINUSE' ? 'is taken by another program, such as Sluice itself' : `cannot be used (${String(error.code)})`
    throw new Error(
      `Port ${options.port} ${why}. Choose another one with --port, and give it to the bot (gateway_api_port); or move Sluice's own with server.port in conf/server.yml.`,
      { cause: error },
    )
  }
}

/** @throws Error where the interface is off, or several are on */
function interfaceUrl(name: string | undefined, { confDir, server }: Settings): URL {
  const folder = path.join(confDir, 'interfaces')
  const names = existsSync(folder) ? readdirSync(folder).flatMap((file) => /^(.+)\.yml$/.exec(file)?.[1] ?? []) : []
  const on = names.flatMap((each) => {
    const read = readYaml(path.join(folder, `${each}.yml`), each, [])
    const { port, host } = Object(substitute(read?.value ?? {}, process.env).value) as { port?: unknown; host?: unknown }
    const number = Number(port)
    if (!Number.isInteger(number) || number <= 0) return []
    return [{ name: each, url: urlOf({ host: typeof host === 'string' ? host : server.host, port: number }) }]
  })
  const chosen = name === undefined ? on : on.filter((each) => each.name === name)
  if (chosen.length > 1) throw new Error(`${folder} has a port for ${on.map((each) => each.name).join(', ')}: name one with --interface.`)
  const [first] = chosen
  if (first) return first.url
  const file = path.join(folder, `${name ?? '<interface>'}.yml`)
  throw new Error(
    `There is no port in ${file}: write one into it, such as \`port: 15889\`, and restart the server; or name the interface with --url.`,
  )
}

/** Whether the system's table shows the proxy's own port as this user's. */
export const tellsOwners = async (owners: SocketTable, port: number): Promise<boolean> =>
  (await owners.ownerOfListener(port)) === process.getuid?.()

export const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
