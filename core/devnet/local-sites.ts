// Exchanges and chains that the release simulates beside the devnet, as networks `local` of chains of their own. Only listeners are opened at
// start: the simulator, and the node of an exchange's chain, are started by the first connection, so that who does not use them has none of their cost.
import { existsSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { StartError } from '../config/problems.ts'
import { devnetNetwork, type Settings } from '../config/settings.ts'
import { isObject } from '../base/json.ts'
import { builtDevnetRoot } from '../base/layout.ts'
import { messageOf } from '../plugins/index.ts'
import { devnetAddresses } from '../keys/devnet-keys.ts'
import { curveOf } from '../wallet/release-policy.ts'
import { endWatched, host, rpcTo, spawnWatched, startAnvil, type WatchedProcess } from './anvil.ts'

export interface LocalSites {
  /** Each is that of a chain, and of the connector that is simulated with it, if any. */
  readonly names: readonly string[]
  /** Where the hosts of `hostsOf` are, by their names. */
  readonly addresses: ReadonlyMap<string, string>
  /** Why a network is not there, once somebody has asked for it. */
  whyAway(chain: string, network: string): string | undefined
  stop(): Promise<void>
}

const program = (name: string): URL | undefined => {
  const root = builtDevnetRoot()
  const file = root && new URL(`plugins/${name}/local.js`, root)
  return file && existsSync(file) ? file : undefined
}

/** Those of the release's plugins that are simulated. */
export const simulated = (plugins: readonly { readonly name: string; readonly builtIn: boolean }[]): string[] =>
  plugins.flatMap(({ name, builtIn }) => (builtIn && program(name) ? [name] : []))

/** Those of them that the settings want. @throws StartError for a chain that is not among them */
export function wantedSites({ devnet: { only } }: Pick<Settings, 'devnet'>, plugins: Parameters<typeof simulated>[0]): string[] {
  const names = simulated(plugins)
  const known = [devnetNetwork.chain, ...names]
  const unknown = only?.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new StartError(`devnet.only (--only) names "${unknown}", and the chains with a local network here are ${known.join(', ')}.`)
  return names.filter((name) => only?.includes(name) ?? true)
}

/** Addresses as `openLocalSites` would give them in a start with these settings. Nothing listens there. */
export const expectedAddresses = ({ devnet: { enabled, only } }: Pick<Settings, 'devnet'>, plugins: Parameters<typeof simulated>[0]) =>
  new Map(
    simulated(plugins)
      .filter((name) => enabled && (only?.includes(name) ?? true))
      .flatMap((name) => Object.values(hostsOf(name)))
      .map((host) => [host, '127.0.0.1:1']),
  )

/** What stands in a plugin's defaults for the addresses, which are any free ones. A chain that is simulated itself has the first alone. */
const hostsOf = (name: string) => ({ api: `${name}.localhost`, node: `evm.${name}.localhost` })

/**
 * @param devnetUrl the node of the devnet
 * @param named bytes of programs of a chain that the operator has named, by their sha256
 */
export async function openLocalSites(
  names: readonly string[],
  devnetUrl: string,
  log: SiteLog,
  named: (chain: string) => readonly string[] = () => [],
): Promise<LocalSites> {
  const addresses = new Map<string, string>()
  const all: ReturnType<typeof createSite>[] = []
  for (const name of names) {
    const site = createSite(name, { devnetUrl, log, named: () => named(name) })
    const { api, node } = hostsOf(name)
    addresses.set(api, await site.listen('api'))
    addresses.set(node, await site.listen('node'))
    all.push(site)
  }
  return {
    names,
    addresses,
    whyAway: (chain, network) => (network === devnetNetwork.network ? all.find(({ name }) => name === chain)?.whyAway() : undefined),
    stop: async () => void (await Promise.all(all.map((site) => site.stop()))),
  }
}

interface SiteLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The ports of what was started. */
interface SitePorts {
  readonly api: number
  readonly node: number
}

interface SiteOptions {
  readonly devnetUrl: string
  readonly log: SiteLog
  readonly named: () => readonly string[]
}

function createSite(name: string, { devnetUrl, log, named }: SiteOptions) {
  const network = { chain: name, network: devnetNetwork.network }
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  const stops: (() => Promise<void>)[] = []
  let starting: Promise<SitePorts> | undefined
  let whyAway: string | undefined
  let isStopped = false

  const away = (why: string) => {
    whyAway = why
    if (!isStopped) log.error({ ...network, reason: why }, 'simulator missing; everything else works without it')
  }

  function start(): Promise<SitePorts> {
    starting ??= bringUp().then(
      (running) => {
        whyAway = undefined
        log.info(network, 'simulator started, because its network was asked for')
        return running
      },
      async (error: unknown) => {
        away(`its simulator could not be started: ${messageOf(error)}`)
        await endAll()
        // The next one who asks tries again.
        starting = undefined
        throw error
      },
    )
    return starting
  }

  async function bringUp(): Promise<SitePorts> {
    const file = program(name)
    if (!file) throw new Error(`plugins/${name}/local.js of the package sluice-devnet is missing`)
    const child = spawnWatched(process.execPath, [
      fileURLToPath(file),
      ...devnetAddresses(curveOf(name)),
      ...named().map((sha256) => `sha256:${sha256}`),
    ])
    stops.push(() => endWatched(child))
    const said = await firstLine(child)
    const node = said.evm ? await startNode(said.evm) : said.port
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended')
    child.once('exit', () => away('its simulator has ended. Restart the server'))
    return { api: said.port, node }
  }

  /** @returns its port */
  async function startNode({ chainId, contracts }: EvmChain): Promise<number> {
    const node = await startAnvil(0, ['--block-time', '1', '--mixed-mining'])
    stops.push(() => node.stop())
    await node.rpc('anvil_setChainId', chainId)
    const devnet = rpcTo(devnetUrl)
    for (const address of contracts) await node.rpc('anvil_setCode', address, await devnet('eth_getCode', address, 'latest'))
    return Number(new URL(node.rpcUrl).port)
  }

  async function endAll(): Promise<void> {
    await Promise.all(stops.splice(0).map((stop) => stop()))
  }

  function serve(socket: Socket, to: keyof SitePorts): void {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    start().then(
      (running) => {
        const there = connect(running[to], host)
        there.on('error', () => socket.destroy()).on('close', () => socket.end())
        socket.on('close', () => there.end())
        socket.pipe(there).pipe(socket)
      },
      // Once it was asked something: what comes before the question need not be read.
      () => socket.once('data', () => socket.end(`HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)),
    )
  }

  return {
    name,
    whyAway: () => whyAway,
    /** @returns host and port */
    async listen(to: keyof SitePorts): Promise<string> {
      const server = createServer((socket) => serve(socket, to))
      await new Promise<void>((resolve, reject) => server.on('error', reject).listen(0, host, resolve))
      servers.push(server)
      return `${host}:${(server.address() as AddressInfo).port}`
    },
    async stop() {
      isStopped = true
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await endAll()
      // What was being started meanwhile.
      await starting?.catch(() => {})
      await endAll()
    },
  }
}

const startTimeoutMs = 15_000

interface SiteAnnouncement {
  readonly port: number
  /** The chain of an exchange that is simulated. */
  readonly evm?: EvmChain
}

interface EvmChain {
  readonly chainId: number
  /** Contracts of the devnet that its node has, too. */
  readonly contracts: readonly string[]
}

/** It prints one line of JSON once it listens. */
async function firstLine(child: WatchedProcess): Promise<SiteAnnouncement> {
  const spent = new AbortController()
  let [said, complained] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => (complained = (complained + chunk.toString()).slice(-500)))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('\n')) resolve(said)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`it ended with ${code ?? 'a signal'}. ${complained.trim()}`)))
    const limit = setTimeout(() => reject(new Error(`it did not listen within ${startTimeoutMs / 1000} s`)), startTimeoutMs)
    spent.signal.addEventListener('abort', () => clearTimeout(limit))
  }).finally(() => spent.abort())
  child.stdout.removeAllListeners('data').resume()
  const read: unknown = JSON.parse(line)
  const { port, chainId, contracts } = isObject(read) ? read : {}
  if (typeof port !== 'number') throw new Error(`it said ${line.slice(0, 200)}`)
  return { port, ...(typeof chainId === 'number' && Array.isArray(contracts) && { evm: { chainId, contracts: contracts.map(String) } }) }
}
