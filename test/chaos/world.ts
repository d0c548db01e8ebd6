import { setTimeout as sleep } from 'node:timers/promises'
import { tradingWallets } from '../../core/devnet/trading-wallets.ts'
import { startPostgres, type TestPostgres } from '../store/postgres.ts'
import { createRecorder, type Recorder } from './bots/recorder.ts'
import { startChain, type Chain } from './chain/chain.ts'
import { putCollateral } from './chain/collateral.ts'
import type { Request } from './history.ts'
import { startFaultProxy, type FaultProxy } from './proxy/fault-proxy.ts'
import type { Random } from './random.ts'
import { makeHome, type Home } from './servers/home.ts'
import { spawnServer, type Server, type ServerOptions } from './servers/spawn-server.ts'

/** More than the deepest reorganisation that a run makes. */
export const confirmations = 6
const blockMs = 250

export interface WorldOptions {
  random: Random
  /** Several need the database. */
  servers?: number
  postgres?: boolean
  patches?: readonly string[]
}

/** A chain, what stands between it and the servers, the servers, and what the bots saw. */
export interface World {
  chain: Chain
  proxy: FaultProxy
  home: Home
  postgres: TestPostgres | undefined
  wallets: readonly string[]
  recorder: Recorder
  /** Block from which on the run's transactions are. */
  firstBlock: number
  /** Requests with a key that were not answered for good while faults went on. */
  unresolved: Request[]
  servers: (Server | undefined)[]
  /** Why no server will come any more: whoever waits for one is told. */
  failure: Error | undefined
  /** The last words of servers that ended though nobody asked them to, or did not end when they were asked. */
  lastWords: string[]
  /** How long servers took to be ready, in order. */
  readyInMs: number[]
  /** Starts the server of that number, in place of one that ended. */
  start(index?: number, options?: Pick<ServerOptions, 'dieAt' | 'stopAt'>): Promise<Server>
  /** One that runs, or the one of that number; waits while there is none. */
  someServer(index?: number): Promise<Server>
  stop(): Promise<void>
}

export async function createWorld({
  random,
  servers: count = 1,
  postgres: wantsPostgres = false,
  patches = [],
}: WorldOptions): Promise<World> {
  const recorder = createRecorder()
  const chain = await startChain({ blockMs })
  await putCollateral(chain, tradingWallets)
  const postgres = wantsPostgres ? await startPostgres() : undefined
  const proxy = await startFaultProxy(
    () => chain.rpcUrl(),
    random.fork('proxy'),
    () => recorder.clock(),
  )
  const home = await makeHome({ confirmations, ...(postgres && { storeUrl: postgres.url }) })
  const servers: World['servers'] = []
  const choosing = random.fork('server')
  const world: World = {
    chain,
    proxy,
    home,
    postgres,
    wallets: tradingWallets,
    recorder,
    firstBlock: (await chain.height()) + 1,
    unresolved: [],
    servers,
    failure: undefined,
    lastWords: [],
    readyInMs: [],
    async start(index = 0, options = {}) {
      const before = servers[index]
      if (before?.misbehaved()) world.lastWords.push(before.log())
      servers[index] = undefined
      const server = await spawnServer({ home, rpcUrl: proxy.url, patches, ...options })
      servers[index] = server
      world.readyInMs.push(Math.round(server.readyInMs))
      return server
    },
    async someServer(index) {
      for (;;) {
        const running = servers.filter((each) => each !== undefined && !each.hasEnded()) as Server[]
        const found = index === undefined ? running : running.filter((each) => each === servers[index])
        if (found.length > 0) return choosing.pick(found)
        if (world.failure) throw world.failure
        await sleep(20)
      }
    },
    async stop() {
      await Promise.all(servers.map(async (each) => each?.stop()))
      await proxy.stop()
      await chain.stop()
      await postgres?.stop()
      await home.remove()
    },
  }
  try {
    // The first makes what they share: certificates and tables.
    await world.start(0)
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => world.start(index + 1)))
  } catch (error) {
    await world.stop()
    throw error
  }
  return world
}
