import path from 'node:path'
import { tradingWallets } from '../../core/devnet/anvil.ts'
import { startPostgres, type TestPostgres } from '../../test/store/postgres.ts'
import { oneChain } from '../../test/http/one-chain.ts'
import { createRecorder, type History } from './history.ts'
import { startChain, putCollateral, type Chain } from './chain/chain.ts'
import { allowOrders } from './chain/facts.ts'
import { checkHistory } from './checker/check-history.ts'
import { startFaultProxy, type FaultProxy } from './chain/fault-proxy.ts'
import type { Random } from './random.ts'
import { makeHome } from './servers/home.ts'
import type { SmallDisk } from './servers/small-disk.ts'
import { settleWorld } from './settle-world.ts'
import { createStage, type JudgedStage, type Wish } from './stage.ts'

/** More than the deepest reorganisation that a run makes. */
export const confirmations = 6
const blockMs = 250

/** Every kind of request about orders. */
export const orderWishes: readonly Wish[] = [
  ...Array.from({ length: 4 }, (): Wish => ({ op: 'order' })),
  { op: 'cancel-order' },
  { op: 'cancel-order' },
  { op: 'batch' },
]

/** Swaps mostly; what follows upon positions and orders is a part of those. */
const everyWish: readonly Wish[] = [
  ...Array.from({ length: 5 }, (): Wish => ({ op: 'trade', connector: 'uniswap' })),
  ...Array.from({ length: 5 }, (): Wish => ({ op: 'trade', connector: 'sushiswap' })),
  { op: 'trade', connector: 'perp' },
  { op: 'trade', connector: 'perp' },
  { op: 'close' },
  { op: 'deposit' },
  { op: 'withdraw' },
  ...orderWishes,
]

export interface WorldOptions {
  random: Random
  /** Absent: a bit of everything. */
  wishes?: readonly Wish[]
  /** Several need the database. */
  servers?: number
  postgres?: boolean
  patches?: readonly string[]
  /** What the server's data and its log are on. */
  disk?: SmallDisk
  /** Of the server's configuration, besides what every run has. */
  conf?: Readonly<Record<string, unknown>>
  /** What becomes of the first server. */
  first?: Parameters<JudgedStage['start']>[1]
}

/** A chain with the exchanges of the devnet, what stands between it and the servers, the servers, and what the bots saw. */
export interface World extends JudgedStage {
  proxy: FaultProxy
  chain: Chain
  postgres: TestPostgres | undefined
  /** Block from which on the run's transactions are. */
  firstBlock: number
}

export async function createWorld({
  random,
  wishes = everyWish,
  servers: count = 1,
  postgres: wantsPostgres = false,
  patches = [],
  disk,
  conf,
  first,
}: WorldOptions): Promise<World> {
  const recorder = createRecorder()
  const chain = await startChain({ blockMs })
  await putCollateral(chain, tradingWallets)
  await allowOrders(chain, tradingWallets)
  const postgres = wantsPostgres ? await startPostgres() : undefined
  const proxy = await startFaultProxy({
    target: () => chain.rpcUrl(),
    sending: { method: 'eth_sendRawTransaction', rawOf: String },
    random: random.fork('proxy'),
    clock: () => recorder.clock(),
  })
  // A server that loads what no run has a chain for takes longer to start, and each is started again and again.
  const { settings } = oneChain
  const home = await makeHome({
    confirmations,
    settings,
    ...(postgres && { storeUrl: postgres.url }),
    ...(disk && { disk }),
    ...(conf && { conf }),
  })
  const stage = createStage({
    random: random.fork('server'),
    place: { chain: 'ethereum', network: 'local' },
    wallets: tradingWallets,
    wishes,
    proxy,
    home,
    recorder,
    server: { devnetUrl: proxy.url, patches, ...(disk && { prefix: disk.inside, logFile: path.join(disk.outside, 'log') }) },
  })
  const world: World = Object.assign(stage, {
    proxy,
    chain,
    postgres,
    firstBlock: (await chain.height()) + 1,
    settle: (own: Random) => settleWorld(world, own),
    judge: async (history: History) => checkHistory(history),
    async stop() {
      await Promise.all(stage.servers.map(async (each) => each?.stop()))
      await proxy.stop()
      await chain.stop()
      await postgres?.stop()
      await home.remove()
    },
  })
  try {
    // The first makes what they share: certificates and tables.
    await world.start(0, first)
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => world.start(index + 1)))
  } catch (error) {
    await world.stop()
    throw error
  }
  return world
}
