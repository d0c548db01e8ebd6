import { setTimeout as sleep } from 'node:timers/promises'
import { sendForeign } from '../chain/foreign.ts'
import type { Random } from '../random.ts'
import { createWorld, type World } from '../world.ts'
import { amid } from './amid.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  /** Of depth 1 to 5 each. */
  reorganisations: number
  /** Of each other kind of trouble. */
  others: number
}

export const usualBaseFee = 10n * 10n ** 9n

/** What happens to chains: blocks are taken back, fees rise, mempools forget, nodes restart, and others spend from the wallet. */
export const chainTrouble: Scenario<Size> = {
  name: 'chain trouble',
  small: { trades: 30, reorganisations: 3, others: 1 },
  full: { trades: 1000, reorganisations: 100, others: 25 },
  async run({ trades, reorganisations, others }, random, judge) {
    const world = await createWorld({ random })
    world.chain.holdBaseFee(usualBaseFee)
    const times = (count: number, name: keyof typeof chainTroubles) => Array.from({ length: count }, () => name)
    const programme = random
      .fork('programme')
      .shuffled([
        ...times(reorganisations, 'reorganisation'),
        ...times(others, 'fees'),
        ...times(others, 'another program'),
        ...times(others, 'mempool'),
        ...times(others, 'restart'),
      ])
    return judge(world, () =>
      amid(world, { trades, parallel: 5, pauseMs: 100 }, random, async (own) => {
        for (const [index, name] of programme.entries()) {
          await sleep(own.between(200, 1500))
          await chainTroubles[name](world, own.fork(index))
        }
        world.chain.holdBaseFee(usualBaseFee)
        return { reorganisations, 'of each other trouble': others }
      }),
    )
  },
}

/** One of each kind. */
export const chainTroubles = {
  reorganisation: ({ chain }: World, random: Random) => chain.reorganise(random.between(1, 5)),

  /** Tenfold, for longer than a transaction waits before it is bumped. */
  async fees({ chain }: World, random: Random) {
    chain.holdBaseFee(usualBaseFee * 10n)
    await sleep(random.between(1000, 6000))
    chain.holdBaseFee(usualBaseFee)
  },

  async 'another program'({ chain, wallets, recorder }: World, random: Random) {
    recorder.foreign.add(await sendForeign(chain, random.below(wallets.length), random))
  },

  async mempool({ chain }: World) {
    await chain.rpc('anvil_dropAllTransactions')
  },

  restart: ({ chain }: World) => chain.restart(),
}
