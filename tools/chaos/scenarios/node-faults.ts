import { traffic, watch, comeAndGo } from '../traffic.ts'
import { faults } from '../chain/faults.ts'
import type { Random } from '../random.ts'
import { createWorld, type World } from '../world.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  /** With each fault. */
  trades: number
}

/** One bad day of the node after the other. */
export const nodeFaults: Scenario<Size> = scenarioOf('node faults', Object.keys(faults))

/** One bad day each. */
export const eachNodeFault: readonly Scenario<Size>[] = Object.keys(faults).map((name) => scenarioOf(`node: ${name}`, [name]))

function scenarioOf(name: string, days: readonly string[]): Scenario<Size> {
  return {
    name,
    small: { trades: 6 },
    full: { trades: 200 },
    async run({ trades }, random, judge) {
      const world = await createWorld({ random })
      return judge(world, async () => {
        const requestsWithFault: Record<string, number> = {}
        for (const day of days) requestsWithFault[day] = await spend(world, day, trades, random.fork(day))
        return { 'node requests with': requestsWithFault }
      })
    },
  }
}

/** Trades while the fault comes and goes: who trades while nothing works learns little. */
async function spend(world: World, day: string, trades: number, random: Random): Promise<number> {
  const found = faults[day]
  if (!found) throw new Error(`There is no fault "${day}".`)
  const before = world.proxy.faults
  const over = new AbortController()
  const watched = watch(world, random.fork('watch'), over.signal)
  const weather = comeAndGo(world, [found], random.fork('weather'), over.signal)
  await traffic(world, { trades, parallel: 5, wallets: world.wallets, pauseMs: 100 }, random.fork('traffic'))
  over.abort()
  await Promise.all([watched, weather])
  return world.proxy.faults - before
}
