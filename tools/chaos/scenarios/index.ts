import { setTimeout as sleep } from 'node:timers/promises'
import { faults } from '../chain/faults.ts'
import { amid, comeAndGo } from '../traffic.ts'
import { createWorld } from '../world.ts'
import { keys, rounds } from './bursts.ts'
import { chainTroubles, usualBaseFee, chainTrouble, stranger } from './chain-trouble.ts'
import { clocks } from './clocks.ts'
import { cluster } from './cluster.ts'
import { fullDisk } from './full-disk.ts'
import { hyperliquid, orders } from './orders.ts'
import { hummingbot, hummingbotProxy } from './hummingbot.ts'
import { hummingbotLiquidity, reorganisedLiquidity } from './hummingbot-liquidity.ts'
import { killAgainAndAgain, kills } from './kills.ts'
import { longJournal } from './long-journal.ts'
import { eachNodeFault } from './node-faults.ts'
import type { Scenario } from './scenario.ts'
import { solana } from './solana.ts'
import { stoppedSigner } from './stopped-signer.ts'

/** All of it at once: a server that is killed, on a bad node, on a chain in trouble. */
const everything: Scenario<{ trades: number; kills: number }> = {
  name: 'everything',
  small: { trades: 100, kills: 5 },
  full: { trades: 2000, kills: 60 },
  async run(size, random, judge) {
    const world = await createWorld({ random, patches: ['points'] })
    world.chain.holdBaseFee(usualBaseFee)
    return judge(world, () =>
      amid(world, { trades: size.trades, parallel: 8, pauseMs: 60 }, random, async (own) => {
        const over = new AbortController()
        const weather = comeAndGo(world, Object.values(faults), own.fork('weather'), over.signal)
        const chain = chainInTrouble(over.signal)
        try {
          return await killAgainAndAgain(world, size, own.fork('killer'))
        } finally {
          over.abort()
          await Promise.all([weather, chain])
          world.chain.holdBaseFee(usualBaseFee)
        }
      }),
    )

    async function chainInTrouble(over: AbortSignal): Promise<void> {
      const own = random.fork('chain')
      for (let index = 0; !over.aborted; index += 1) {
        await sleep(own.between(500, 3000), undefined, { signal: over }).catch(() => {})
        if (!over.aborted) await own.pick(Object.values(chainTroubles))(world, own.fork(index))
      }
    }
  },
}

export const scenarios: readonly Scenario[] = [
  kills,
  stoppedSigner,
  fullDisk,
  longJournal,
  ...eachNodeFault,
  chainTrouble,
  stranger,
  rounds,
  cluster,
  clocks,
  keys,
  orders,
  hyperliquid,
  hummingbot,
  hummingbotProxy,
  hummingbotLiquidity,
  reorganisedLiquidity,
  everything,
  solana,
]
