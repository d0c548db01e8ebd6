import { setTimeout as sleep } from 'node:timers/promises'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import { faults } from '../chain/faults.ts'
import { createHyperliquidStage } from '../hyperliquid/hyperliquid-stage.ts'
import { troubles } from '../hyperliquid/troubles.ts'
import { watchBooks } from '../hyperliquid/watch-books.ts'
import type { Random } from '../random.ts'
import { amid, comeAndGo } from '../traffic.ts'
import { createWorld, orderWishes } from '../world.ts'
import { killAgainAndAgain } from './kills.ts'
import type { Scenario } from './scenario.ts'

/** Bots place, cancel and batch orders on an order book, through a server that is killed again and again, and a node that fails. */
export const orders: Scenario<{ trades: number; kills: number }> = {
  name: 'orders',
  small: { trades: 50, kills: 2 },
  full: { trades: 2000, kills: 60 },
  async run(size, random, judge) {
    const world = await createWorld({ random, patches: ['points'], wishes: orderWishes })
    return judge(world, () =>
      amid(world, { trades: size.trades, parallel: 6, pauseMs: 60 }, random, async (own) => {
        const over = new AbortController()
        const weather = comeAndGo(world, Object.values(faults), own.fork('weather'), over.signal)
        try {
          return await killAgainAndAgain(world, size, own.fork('killer'))
        } finally {
          over.abort()
          await weather
        }
      }),
    )
  },
}

/** So often is asked for the same in such weather: the trouble is to last as long as the trading. */
const callsOfATrade = 1.6

/** Bots place, cancel and batch orders of spot and of perpetuals, through a server that is killed again and again, on an exchange that fails. */
export const hyperliquid: Scenario<{ trades: number; kills: number }> = {
  name: 'hyperliquid',
  small: { trades: 130, kills: 2 },
  full: { trades: 2200, kills: 25 },
  async run(size, random, judge) {
    const stage = await createHyperliquidStage({ random })
    return judge(stage, () =>
      amid(stage, { trades: size.trades, parallel: 6, pauseMs: 40, meddles: false }, random, async (own) => {
        const over = new AbortController()
        const beside = [
          comeAndGo(stage, Object.values(troubles), own.fork('weather'), over.signal),
          strangersTrade(stage.exchange, own.fork('strangers'), over.signal),
          watchBooks(stage, stage.shownBooks, own.fork('books'), over.signal),
        ]
        try {
          const killed = await killAgainAndAgain(stage, { ...size, trades: size.trades * callsOfATrade }, own.fork('killer'))
          return { ...killed, 'books looked at': stage.shownBooks.length }
        } finally {
          over.abort()
          await Promise.all(beside)
        }
      }),
    )
  },
}

const stranger = '0x5742a90000000000000000000000000000000000'

/** Where the bots' orders are, and lots that are worth more than the least order. */
const places = [
  { coin: '@107', price: (random: Random) => (39.5 + random.below(21) * 0.05).toFixed(2), size: '0.4' },
  { coin: 'ETH', price: (random: Random) => String(3980 + random.below(21) * 2), size: '0.0041' },
] as const

/** Others who trade there: what they take races with what the bots cancel. */
async function strangersTrade(exchange: HyperliquidExchange, random: Random, over: AbortSignal): Promise<void> {
  const resting: number[] = []
  while (!over.aborted) {
    const { coin, price, size } = random.pick(places)
    const side = random.pick(['BUY', 'SELL'] as const)
    const { oid, isOpen } = exchange.place(stranger, { coin, side, price: price(random), size })
    if (isOpen) resting.push(oid)
    if (resting.length > 6) for (const oldest of resting.splice(0, 1)) exchange.cancel(stranger, oldest)
    await sleep(random.between(30, 250), undefined, { signal: over }).catch(() => {})
  }
}
