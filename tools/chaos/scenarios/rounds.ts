import { ask } from '../bots/ask.ts'
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
