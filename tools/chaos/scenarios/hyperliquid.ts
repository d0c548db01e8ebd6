import { createHyperliquidStage } from '../hyperliquid/hyperliquid-stage.ts'
import { strangersTrade } from '../hyperliquid/strangers.ts'
import { troubles } from '../hyperliquid/troubles.ts'
import { watchBooks } from '../hyperliquid/watch-books.ts'
import { amid } from './amid.ts'
import { killAgainAndAgain } from './kills.ts'
import type { Scenario } from './scenario.ts'
import { comeAndGo } from './weather.ts'

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
