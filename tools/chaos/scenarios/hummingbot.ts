import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { checkHistory, nonces, ofJournal } from '../checker/check-history.ts'
import { checkSwaps, type DeliveryBook } from '../hummingbot/check-swaps.ts'
import { missingOfSwaps } from '../hummingbot/shown.ts'
import { swapAsBots, type SwapOrder } from '../hummingbot/swap-bots.ts'
import { startSwapCalls, type SwapCalls, type Way } from '../hummingbot/swap-calls.ts'
import type { Random } from '../random.ts'
import { watch } from '../traffic.ts'
import { createWorld, type World } from '../world.ts'
import { usualBaseFee } from './chain-trouble.ts'
import { killAgainAndAgain } from './kills.ts'
import { countsOf, type Scenario } from './scenario.ts'

interface Size {
  orders: number
  kills: number
  parallel: number
  ways: readonly Way[]
}

/**
 * Shorter than those of clients, which are 25 and 290 s, and 300 s of the clients. Many bots side by side wait at no cost, so that there is time enough for a
 * busy machine; what is lost is kept for as long as a server takes to start there.
 */
const windows = { receiptSeconds: 8, staleSeconds: 26, collectSeconds: 240, quoteSeconds: 120 }
const orders = Number(process.env['SLUICE_HUMMINGBOT_OPERATIONS'] ?? 10_000)

/** Bots of Hummingbot, which send no keys, swap over bad lines while servers are killed, blocks are slow and the chain is reorganised. */
export const hummingbot = scenario('hummingbot', { orders: 150, kills: 3, parallel: 8 }, { orders, parallel: 128 }, ['tls', 'proxy'])
/** All of them through `sluice proxy`. */
export const hummingbotProxy = scenario(
  'hummingbot-proxy',
  { orders: 100, kills: 3, parallel: 8 },
  { orders: Number(process.env['SLUICE_HUMMINGBOT_OPERATIONS'] ?? 1_000), parallel: 64 },
  ['proxy'],
)

function scenario(
  name: string,
  small: Omit<Size, 'ways'>,
  { orders: count, parallel }: Omit<Size, 'ways' | 'kills'>,
  ways: readonly Way[],
): Scenario<Size> {
  return {
    name,
    small: { ...small, ways },
    full: { orders: count, kills: Math.ceil(count / 250), parallel, ways },
    async run(size, random, judge) {
      const conf = { 'interfaces/hummingbot.yml': { port: 0, ...windows } }
      const world = await createWorld({ random, patches: ['points'], conf })
      world.chain.holdBaseFee(usualBaseFee)
      let placed: readonly SwapOrder[] = []
      const openAtDeaths = new Map<string, number[]>()
      /** Whose row was open at an earlier death has nothing to say at the next one. */
      const dead = new Set<string>()
      const died = () => {
        for (const { id, state, server, joins } of readDeliveries(world.home.dataDir)) {
          const holder = JSON.stringify([id, server, joins])
          if (state !== 'open' || dead.has(holder)) continue
          dead.add(holder)
          openAtDeaths.set(id, [...(openAtDeaths.get(id) ?? []), world.recorder.clock()])
        }
      }
      world.judge = async (history) => {
        const rows = readDeliveries(world.home.dataDir)
        const book: DeliveryBook = { states: new Map(rows.map(({ id, state }) => [id, state])), openAtDeaths }
        const violations = checkHistory(history, [nonces], [ofJournal, checkSwaps(placed, book)])
        const missing = missingOfSwaps(placed, rows.filter(({ joins }) => joins > 0).length)
        if (violations.length === 0 && missing !== undefined) throw new Error(`No violation, and too little was shown: ${missing}.`)
        return violations
      }
      return judge(world, async () => {
        const calls = await startSwapCalls(world)
        try {
          const found = await amidTrouble({ world, calls, size, random, died })
          placed = found.placed
          return { ...found.figures, ...figuresOf(placed) }
        } finally {
          await calls.stop()
        }
      })
    },
  }
}

interface Trouble {
  readonly world: World
  readonly calls: SwapCalls
  readonly size: Size
  readonly random: Random
  /** Told when a server was killed. */
  readonly died: () => void
}

async function amidTrouble({ world, calls, size: { orders: count, kills, parallel, ways }, random, died }: Trouble) {
  const over = new AbortController()
  let troubled = true
  const killed = killAgainAndAgain(world, { trades: count * callsOfOrder, kills }, random.fork('killer'), died).finally(
    () => (troubled = false),
  )
  killed.catch((error: unknown) => {
    world.failure = error instanceof Error ? error : new Error(String(error))
  })
  const others = [
    chainInTrouble(world, random.fork('chain'), over.signal, turnsBetween(world, calls, betweenTroubles)),
    cutNowAndThen(calls, random.fork('cuts'), over.signal, turnsBetween(world, calls, betweenCuts)),
    watch(world, random.fork('watch'), over.signal),
  ]
  try {
    const goOn = () => troubled
    const placed = await swapAsBots({ world, calls, random: random.fork('bots'), orders: count, goOn, parallel, ways })
    return { placed, figures: await killed }
  } finally {
    over.abort()
    await Promise.all(others)
    world.chain.pace(blockMs)
  }
}

export const blockMs = 250
/** With those that are sent again. */
const callsOfOrder = 2

/** Between two faults. */
type Pause = (random: Random, over: AbortSignal) => Promise<unknown>
type Bounds = readonly [least: number, most: number]

/**
 * In turns, of which each is as many answers as there are calls under way: so an order has as many faults on a busy machine as on a quiet one. By time an
 * order that takes longer would have more of them, and take longer still; so it would by calls, of which each cut makes more.
 */
const betweenCuts: Bounds = [0.5, 2.5]
export const betweenTroubles: Bounds = [0.1, 0.6]
const leastAnswers = 4

export const turnsBetween =
  ({ recorder }: Pick<World, 'recorder'>, calls: Pick<SwapCalls, 'underWay'>, [least, most]: Bounds): Pause =>
  async (random, over) => {
    const turns = least + random.next() * (most - least)
    let [underWay, seen, answers] = [calls.underWay, recorder.calls.length, 0]
    while (answers < Math.max(leastAnswers, turns * underWay) && !over.aborted) {
      await sleep(20)
      // Right after a cut there are fewer.
      underWay = Math.max(underWay, calls.underWay)
      for (; seen < recorder.calls.length; seen += 1) if (recorder.calls[seen]?.outcome.is === 'answer') answers += 1
    }
  }

type ChainTrouble = (world: World, random: Random) => Promise<unknown>

const noBlocks: ChainTrouble = async ({ chain }, random) => {
  chain.pace(0)
  await sleep(random.between(500, 4_500))
  chain.pace(blockMs)
}
const lateBlocks: ChainTrouble = async ({ chain }, random) => {
  chain.pace(1_500)
  await sleep(random.between(1_500, 6_000))
  chain.pace(blockMs)
}
const reorganise: ChainTrouble = ({ chain }, random) => chain.reorganise(random.between(1, 5))
const forget: ChainTrouble = async ({ chain }) => {
  await chain.rpc('anvil_dropAllTransactions')
}

/** All but that blocks are taken back. */
export const slowBlocks: readonly ChainTrouble[] = [noBlocks, lateBlocks, forget]
export const chainTroubles: readonly ChainTrouble[] = [noBlocks, lateBlocks, reorganise, reorganise, forget]

export async function chainInTrouble(
  world: World,
  random: Random,
  over: AbortSignal,
  pause: Pause,
  troubles = chainTroubles,
): Promise<void> {
  for (let index = 0; !over.aborted; index += 1) {
    await pause(random, over)
    if (!over.aborted) await random.pick(troubles)(world, random.fork(index))
  }
}

export async function cutNowAndThen(calls: SwapCalls, random: Random, over: AbortSignal, pause: Pause): Promise<void> {
  while (!over.aborted) {
    await pause(random, over)
    calls.cutProxied()
  }
}

function figuresOf(placed: readonly SwapOrder[]): Record<string, unknown> {
  const sent = placed.flatMap(({ calls }) => calls)
  const lost = sent.flatMap(({ outcome }) => (outcome.is === 'lost' ? [outcome] : []))
  return {
    orders: placed.length,
    wanted: countsOf(placed.map(({ intent }) => intent.wants)),
    versions: countsOf(placed.map(({ version }) => version)),
    booked: countsOf(placed.map(({ booked }) => booked)),
    'sent again': sent.length - placed.length,
    'answers lost': lost.length,
    'of them written to a line that stood': lost.filter(({ unread }) => unread() !== undefined).length,
  }
}

export interface Delivery {
  readonly id: string
  readonly state: string
  readonly joins: number
  /** Whose connection it was. */
  readonly server: string
}

/** Of a copy: the next server wants the files for itself, and SQLite lets go of them late. */
export function readDeliveries(dataDir: string): readonly Delivery[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-deliveries-'))
  for (const name of readdirSync(dataDir)) if (name.startsWith('sluice.db')) copyFileSync(path.join(dataDir, name), path.join(folder, name))
  const db = new Database(path.join(folder, 'sluice.db'))
  try {
    return db.prepare('select id, state, joins, server from deliveries').all() as Delivery[]
  } finally {
    db.close()
    rmSync(folder, { recursive: true })
  }
}
