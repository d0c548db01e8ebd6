import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { createWorld, type World } from '../world.ts'
import { amid } from '../traffic.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  /** Of each kind of trouble. */
  times: number
}

const count = 3

/** Three servers on one PostgreSQL, that die, stand still and lose their database. */
export const cluster: Scenario<Size> = {
  name: 'cluster',
  small: { trades: 40, times: 1 },
  full: { trades: 3000, times: 25 },
  async run({ trades, times }, random, judge) {
    const world = await createWorld({ random, servers: count, postgres: true })
    const programme = random
      .fork('programme')
      .shuffled(Object.values(troubles).flatMap((each) => Array.from({ length: times }, () => each)))
    return judge(world, () =>
      amid(world, { trades, parallel: 8, pauseMs: 60 }, random, async (own) => {
        for (const [index, trouble] of programme.entries()) {
          await sleep(own.between(500, 2500))
          await trouble(world, own.fork(index))
        }
        return { 'of each trouble': times }
      }),
    )
  },
}

/** Longer than a server's hold on its wallets lasts, so that another one takes them over. */
const longerThanASession = [6_000, 9_000] as const

const troubles = {
  async kill(world: World, random: Random) {
    const index = random.below(count)
    const server = world.servers[index]
    server?.signal('SIGKILL')
    await server?.ended
    await sleep(random.between(0, 8000))
    await world.start(index)
  },

  async standStill({ servers }: World, random: Random) {
    const server = servers[random.below(count)]
    server?.signal('SIGSTOP')
    await sleep(random.chance(0.7) ? random.between(...longerThanASession) : random.between(200, 3000))
    server?.signal('SIGCONT')
  },

  async databaseDies({ postgres }: World, random: Random) {
    await postgres?.kill()
    await sleep(random.between(0, 6000))
    await postgres?.restart()
  },

  async databaseHangs({ postgres }: World, random: Random) {
    await postgres?.pause()
    await sleep(random.between(500, 7000))
    await postgres?.resume()
  },
}
