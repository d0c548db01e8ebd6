import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { OrderedDeathError } from '../servers/spawn-server.ts'
import { points } from '../servers/patches.ts'
import type { Stage } from '../stage.ts'
import { createWorld } from '../world.ts'
import { amid } from '../traffic.ts'
import { countsOf, type Scenario } from './scenario.ts'

/** How long a server may take to come to the point where it is to die, before it is killed where it is. */
const pointTimeoutMs = 4_000

interface Size {
  trades: number
  kills: number
}

/** kill -9 at every point between two durable steps, and at random times, while bots trade. */
export const kills: Scenario<Size> = {
  name: 'kills',
  small: { trades: 90, kills: 5 },
  full: { trades: 10_000, kills: 200 },
  async run(size, random, judge) {
    const world = await createWorld({ random, patches: ['points'] })
    return judge(world, () =>
      amid(world, { trades: size.trades, parallel: 8, pauseMs: 30 }, random, (own) => killAgainAndAgain(world, size, own)),
    )
  },
}

/**
 * Kills the server each time after its share of the calls.
 * @param killed told after each, before the next server starts; not where it was asked to end
 */
export async function killAgainAndAgain(
  stage: Stage,
  { trades, kills }: Size,
  random: Random,
  killed: () => void = () => {},
): Promise<Record<string, unknown>> {
  const diedAt: string[] = []
  const order = random.shuffled(points)
  for (let kill = 0; kill < kills; kill += 1) {
    const own = random.fork(kill)
    await callsMade(stage, Math.floor((trades / kills) * (0.5 + own.next())))
    await sleep(own.between(0, 150))
    const where = await end(stage, own)
    diedAt.push(where)
    if (where !== asked) killed()
    // Every point comes before any comes twice; every third kill is at a random time. The last server stays.
    const point = order[kill % order.length]
    const dieAt = own.chance(0.67) && point !== undefined && kill + 1 < kills ? { point, nth: own.between(1, 10) } : undefined
    await stage.start(0, dieAt && { dieAt }).catch((error: unknown) => {
      if (!(error instanceof OrderedDeathError)) throw error
      kill += 1
      diedAt.push(`${dieAt?.point}, while it started`)
      return stage.start(0)
    })
  }
  return { kills: diedAt.length, 'killed at': countsOf(diedAt) }
}

async function callsMade({ recorder, servers }: Stage, count: number): Promise<void> {
  const enough = recorder.calls.length + count
  while (recorder.calls.length < enough && !servers[0]?.hasEnded()) await sleep(5)
}

/** Now and then it is asked in a friendly way, as a new version is rolled out. */
const friendly = 0.1
const asked = 'SIGTERM'

/** Gives a server that has a point to die at the time to come there, and kills any other. */
async function end({ servers: [server] }: Stage, random: Random): Promise<string> {
  if (!server) throw new Error('There is no server to kill.')
  for (let waited = 0; server.dieAt && !server.hasEnded() && waited < pointTimeoutMs; waited += 20) await sleep(20)
  if (!server.dieAt && random.chance(friendly)) {
    await server.stop()
    return asked
  }
  const where = server.hasEnded() ? server.dieAt?.point : 'a random time'
  server.signal('SIGKILL')
  await server.ended
  return where ?? 'by itself'
}
