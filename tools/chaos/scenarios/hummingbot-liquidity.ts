import { checkHistory, nonces, ofJournal } from '../checker/check-history.ts'
import { checkPositions } from '../hummingbot/check-positions.ts'
import { openAsBots, type PositionLife } from '../hummingbot/position-bots.ts'
import {
  deepestPool,
  keepReorganisations,
  positionEventsSince,
  prepareWallets,
  tradeInPool,
  type Pool,
} from '../hummingbot/position-facts.ts'
import { missingOfPositions } from '../hummingbot/shown.ts'
import { startSwapCalls, type SwapCalls } from '../hummingbot/swap-calls.ts'
import type { Random } from '../random.ts'
import { watch } from '../traffic.ts'
import { createWorld, type World } from '../world.ts'
import { usualBaseFee } from './chain-trouble.ts'
import {
  betweenTroubles,
  blockMs,
  chainInTrouble,
  chainTroubles,
  cutNowAndThen,
  readDeliveries,
  slowBlocks,
  turnsBetween,
} from './hummingbot.ts'
import { killAgainAndAgain } from './kills.ts'
import { countsOf, type Scenario } from './scenario.ts'

interface Size {
  positions: number
  kills: number
  parallel: number
}

/** Shorter than those of clients, which are 25 and 290 s, and 300 s of the clients. */
const windows = { receiptSeconds: 8, positionSeconds: 10, staleSeconds: 24, collectSeconds: 240, quoteSeconds: 120 }
const positions = Number(process.env['SLUICE_HUMMINGBOT_POSITIONS'] ?? 2_000)
/** Opens and closes are held to their receipts: they take longer than swaps do. */
const betweenCuts = [1, 3] as const
/** Of a life, with those that are sent again. */
const callsOfLife = 3

interface Weather {
  /**
   * Whether blocks are taken back. Then an id that was answered may be another position's, which nothing but its finality could rule out: where
   * transactions of several wallets come in another order, and where an open does nothing the second time. So there is one wallet then, and room for
   * the price.
   */
  readonly reorganised: boolean
}

/** Executors of Hummingbot open and close positions over bad lines while servers are killed and blocks are slow. */
const liquidityIn = (name: string, full: Size, { reorganised }: Weather): Scenario<Size> => ({
  name,
  small: { positions: 24, kills: 2, parallel: 8 },
  full,
  async run(size, random, judge) {
    const conf = { 'interfaces/hummingbot.yml': { port: 0, ...windows } }
    const world = await createWorld({ random, patches: ['points'], conf })
    world.chain.holdBaseFee(usualBaseFee)
    const reorganisations = keepReorganisations(world)
    let lives: readonly PositionLife[] = []
    let pool: Pool | undefined
    world.judge = async (history) => {
      const events = await positionEventsSince(world.chain, world.firstBlock)
      const states = new Map(readDeliveries(world.home.dataDir).map(({ id, state }) => [id, state]))
      const decimals = pool?.isCoinFirst ? ([18, 6] as const) : ([6, 18] as const)
      const violations = checkHistory(history, [nonces], [ofJournal, checkPositions({ lives, events, decimals, states, reorganisations })])
      const missing = missingOfPositions(lives, events)
      if (violations.length === 0 && missing !== undefined) throw new Error(`No violation, and too little was shown: ${missing}.`)
      return violations
    }
    return judge(world, async () => {
      await prepareWallets(world)
      pool = await deepestPool(world)
      const calls = await startSwapCalls(world)
      try {
        const found = await amidTrouble({ world, calls, size, random, pool, reorganised })
        lives = found.lives
        return { ...found.figures, ...figuresOf(lives), reorganisations: reorganisations.length }
      } finally {
        await calls.stop()
      }
    })
  },
})

const full: Size = { positions, kills: Math.ceil(positions / 80), parallel: 48 }
export const hummingbotLiquidity = liquidityIn('hummingbot-liquidity', full, { reorganised: false })
export const reorganisedLiquidity = liquidityIn('hummingbot-liquidity-reorganised', full, { reorganised: true })

interface Trouble extends Weather {
  readonly world: World
  readonly calls: SwapCalls
  readonly size: Size
  readonly random: Random
  readonly pool: Pool
}

async function amidTrouble({ world, calls, size, random, pool, reorganised }: Trouble) {
  const { positions: count, kills, parallel } = size
  const over = new AbortController()
  let troubled = true
  const killed = killAgainAndAgain(world, { trades: count * callsOfLife, kills }, random.fork('killer')).finally(() => (troubled = false))
  killed.catch((error: unknown) => {
    world.failure = error instanceof Error ? error : new Error(String(error))
  })
  const others = [
    chainInTrouble(
      world,
      random.fork('chain'),
      over.signal,
      turnsBetween(world, calls, betweenTroubles),
      reorganised ? chainTroubles : slowBlocks,
    ),
    cutNowAndThen(calls, random.fork('cuts'), over.signal, turnsBetween(world, calls, betweenCuts)),
    watch(world, random.fork('watch'), over.signal),
    tradeInPool(world, pool, random.fork('trades'), over.signal),
  ]
  try {
    const goOn = () => troubled
    const own = reorganised ? { wallets: world.wallets.slice(0, 1), leastSlippagePct: 1 } : { wallets: world.wallets }
    const lives = await openAsBots({ world, calls, random: random.fork('bots'), pool, positions: count, goOn, parallel, ...own })
    return { lives, figures: await killed }
  } finally {
    over.abort()
    await Promise.all(others)
    world.chain.pace(blockMs)
  }
}

function figuresOf(lives: readonly PositionLife[]): Record<string, unknown> {
  const sent = lives.flatMap(({ calls }) => calls)
  const codes = sent.flatMap(({ does, outcome }) =>
    outcome.is === 'refusal' ? [`${does} ${outcome.status} ${outcome.code}`.trimEnd()] : [],
  )
  return {
    positions: lives.length,
    versions: countsOf(lives.map(({ version }) => version)),
    booked: countsOf(lives.map(({ booked }) => booked)),
    sent: countsOf(sent.map(({ does }) => does)),
    refused: countsOf(codes),
    'answers lost': sent.filter(({ outcome }) => outcome.is === 'lost').length,
    'opens answered with a handle': lives.filter(({ position = '' }) => position.startsWith('0x')).length,
    'closes told with fees': lives.filter(({ closed = [] }) => closed.some(({ fees }) => fees?.some((fee) => Number(fee) > 0))).length,
  }
}
