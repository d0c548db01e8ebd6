import { setTimeout as sleep } from 'node:timers/promises'
import { traffic } from '../bots/traffic.ts'
import { watch } from '../bots/watch.ts'
import type { Random } from '../random.ts'
import { points } from '../servers/patched/patches.ts'
import { createWorld, type World } from '../world.ts'
import type { Scenario } from './scenario.ts'

/** How long a server may take to come to the point where it is to die, before it is killed where it is. */
const pointTimeoutMs = 5_000

/** kill -9 at every point between two durable steps, and at random times, while bots trade. */
export const kills: Scenario<{ trades: number; kills: number }> = {
  name: 'kills',
  small: { trades: 500, kills: 20 },
  full: { trades: 10_000, kills: 200 },
  async run({ trades, kills }, random, report) {
    const world = await createWorld({ random, patches: ['points'] })
    return report(world, async () => {
      const watching = new AbortController()
      let killing = true
      const killed = killer(world, kills, trades, random.fork('killer')).finally(() => {
        killing = false
      })
      const watched = watch(world, random.fork('watch'), watching.signal)
      await traffic(world, { trades, parallel: 8, wallets: world.wallets, goOn: () => killing, pauseMs: 30 }, random.fork('traffic'))
      const figures = await killed
      watching.abort()
      await watched
      return figures
    })
  },
}

/** Kills the server again and again, each time after its share of the calls. */
async function killer(world: World, kills: number, trades: number, random: Random): Promise<Record<string, unknown>> {
  const { recorder, servers } = world
  const atPoints = new Map<string, number>()
  const order = random.shuffled(points)
  for (let kill = 0; kill < kills; kill += 1) {
    const own = random.fork(kill)
    const callsBefore = recorder.calls.length
    const share = Math.floor((trades / kills) * (0.5 + own.next()))
    const wait = own.between(0, 150)
    while (recorder.calls.length < callsBefore + share && !servers[0]?.hasEnded()) await sleep(5)
    await sleep(wait)
    // One that has a point to die at gets the time to come there.
    for (let waited = 0; world.killAt !== undefined && !servers[0]?.hasEnded() && waited < pointTimeoutMs; waited += 20) await sleep(20)
    const cause = world.killAt !== undefined && servers[0]?.hasEnded() ? world.killAt.point : 'a random time'
    atPoints.set(cause, (atPoints.get(cause) ?? 0) + 1)
    servers[0]?.signal('SIGKILL')
    await servers[0]?.ended
    // Every point comes before any comes twice; every third time is a random one.
    const point = order[kill % order.length]
    await world.start(0, own.chance(0.67) && point !== undefined ? { killAt: { point, nth: own.between(1, 12) } } : {})
  }
  return { kills, 'killed at': Object.fromEntries(atPoints) }
}
