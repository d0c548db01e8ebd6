import { faults } from '../chain/faults.ts'
import { createWorld, orderWishes } from '../world.ts'
import { amid, comeAndGo } from '../traffic.ts'
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
