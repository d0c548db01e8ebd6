import { setTimeout as sleep } from 'node:timers/promises'
import { dropsAll, takesAfter, takesAll } from '../../solana-node/ledger/leaders.ts'
import { faults } from '../chain/faults.ts'
import type { Trouble } from '../chain/fault-proxy.ts'
import type { Random } from '../random.ts'
import { createSolanaStage, type SolanaStage } from '../solana-stage.ts'
import { amid, comeAndGo } from '../traffic.ts'
import { killAgainAndAgain } from './kills.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  kills: number
  /** Fewer than requests: some want what another is making. */
  mints: number
}

/** Accounts for tokens on Solana, from a server that is killed, on a bad node, of a chain whose leaders drop and whose blocks are undone. */
export const solana: Scenario<Size> = {
  name: 'solana',
  small: { trades: 40, kills: 2, mints: 30 },
  full: { trades: 1500, kills: 60, mints: 800 },
  async run(size, random, judge) {
    const stage = await createSolanaStage({ random, mints: size.mints })
    return judge(stage, () =>
      amid(stage, { trades: size.trades, parallel: 4, pauseMs: 60, meddles: false }, random, async (own) => {
        const over = new AbortController()
        const weather = comeAndGo(stage, troublesOf(stage), own.fork('weather'), over.signal)
        const chain = chainInTrouble(stage, own.fork('chain'), over.signal)
        try {
          return await killAgainAndAgain(stage, size, own.fork('killer'))
        } finally {
          over.abort()
          await Promise.all([weather, chain])
        }
      }),
    )
  },
}

/** Those that nodes of any chain have, and those of a node of Solana. */
function troublesOf({ node }: SolanaStage): readonly Trouble[] {
  const { 'stale head': _, 'wrong nonce': __, ...ofAnyChain } = faults
  const asOneThat = (changes: (random: Random) => Partial<typeof node.options>): Trouble => ({
    ofSends: 0.5,
    ofOthers: 0.5,
    async fault({ random, deliver, answer }) {
      Object.assign(node.options, changes(random))
      const answers = await deliver().finally(() => Object.assign(node.options, { lagBlocks: 0, historyBlocks: Infinity }))
      answer(answers)
    },
  })
  return [
    ...Object.values(ofAnyChain),
    asOneThat((random) => ({ lagBlocks: random.between(1, 40) })),
    asOneThat((random) => ({ historyBlocks: random.between(1, 40) })),
  ]
}

async function chainInTrouble({ cluster }: SolanaStage, random: Random, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    cluster.lead(random.pick([takesAll, takesAfter(random.between(1, 20)), dropsAll]))
    await sleep(random.between(200, 1500), undefined, { signal: over }).catch(() => {})
    cluster.lead(takesAll)
    if (random.chance(0.5)) cluster.reorganise(random.between(1, 12), random.pick(['again', 'lost']))
    await sleep(random.between(100, 800), undefined, { signal: over }).catch(() => {})
  }
}
