import { ask, isSettled, persist } from '../ask.ts'
import { createWorld } from '../world.ts'
import type { Scenario } from './scenario.ts'

/** A hundred trades of one wallet at once, again and again. */
export const rounds: Scenario<{ rounds: number; parallel: number }> = {
  name: 'rounds',
  small: { rounds: 1, parallel: 100 },
  full: { rounds: 50, parallel: 100 },
  async run({ rounds, parallel }, random, judge) {
    const world = await createWorld({ random })
    const wallet = world.wallets[0] ?? ''
    return judge(world, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const requests = Array.from({ length: parallel }, () => world.recorder.newRequest({ op: 'trade', wallet }))
        await Promise.all(requests.map((request) => ask(world, request)))
      }
      return {}
    })
  },
}

/** So many keys are under way at once. */
const atOnce = 10

/** Every key at once, several times over. */
export const keys: Scenario<{ keys: number; copies: number }> = {
  name: 'keys',
  small: { keys: 40, copies: 10 },
  full: { keys: 1000, copies: 10 },
  async run({ keys, copies }, random, judge) {
    const world = await createWorld({ random })
    return judge(world, async () => {
      for (let first = 0; first < keys; first += atOnce)
        await Promise.all(Array.from({ length: Math.min(atOnce, keys - first) }, (_, index) => useKey(`key-${first + index}`)))
      return {}
    })

    async function useKey(key: string): Promise<void> {
      const request = world.recorder.newRequest({ op: 'trade', wallet: random.pick(world.wallets), key })
      const calls = await Promise.all(Array.from({ length: copies }, () => ask(world, request)))
      // Copies that came too early are told so; what they are told later is the first's answer.
      if (!calls.some(isSettled) && !(await persist(async () => [await ask(world, request)], random.fork(key), 10_000)))
        world.unresolved.push([request])
      await ask(world, request)
      // Another request under the key is refused, whatever became of the first.
      if (random.chance(0.2)) await ask(world, world.recorder.newRequest({ op: 'trade', wallet: request.wallet, key }))
    }
  },
}
