import { ammCards } from '../../../testkit/cards/amm.ts'
import type { TestVenue, ChainControl } from '../../../testkit/cards/venue.ts'
import type { Quoter } from '../../../core/contracts/devnet.ts'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { until } from '../../transactions/site.ts'
import { constantProductPools, dammPools } from '../../../kits/solana/amm/index.ts'
import { classes } from '../../../plugins/raydium/deployments.ts'
import { configs } from '../../../plugins/meteora/deployments.ts'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'
import { realQuoter } from './real-quoter.ts'

const most = 2n ** 64n - 1n

const missing = (program: 'raydium_cp_swap' | 'cp_amm') => {
  const found = realProgram(program)
  return 'missing' in found ? found.missing : undefined
}

/** Connectors, with why their program is not there, and what its swaps are judged by. */
const exchanges: readonly (readonly [string, string | undefined, (site: AmmSite) => Quoter])[] = [
  ['poolswap', undefined, quoterOf],
  [
    'raydium',
    missing('raydium_cp_swap'),
    ({ solana, wallets }) => realQuoter(solana, constantProductPools({ programVersion: 'early-2025', classes }), wallets[0]),
  ],
  ['meteora', missing('cp_amm'), ({ solana, wallets }) => realQuoter(solana, dammPools({ configs }), wallets[0])],
]

for (const [connector, absent, judge] of exchanges) {
  const title = `${connector} on Solana, by the cards of every AMM`
  ;(absent === undefined ? describe : describe.skip)(absent === undefined ? title : `${title} (left out: ${absent})`, () => {
    let site: AmmSite
    const venue: TestVenue = {
      ...here,
      connector,
      client: undefined as never,
      rpcUrl: '',
      wallets: ['', '', ''],
      pairs: [
        ['BASE', 'USDC'],
        ['USDC', 'BASE'],
      ],
      unquoted: [],
      noDeadline: true,
      quoter: undefined,
    }
    before(async () => {
      site = await startAmmSite({ slotMs: 40, skipped: 0.2, exchanges: connector === 'poolswap' ? [] : [connector] })
      Object.assign(venue, { client: site.client, wallets: site.wallets, quoter: judge(site), chainControl: chainControlOf(site) })
    })
    after(() => site?.stop())

    // amm-trade.rest.test.ts tests transactions that nobody took while their blockhash lived.
    ammCards(venue, it)
  })
}

/** The program, asked what it would do. */
function quoterOf(site: AmmSite): Quoter {
  const poolOf = (route: Parameters<Quoter['exactIn']>[0]) => {
    const pool = site.pools.find(({ address }) => address === route[0]?.pool)
    if (!pool) throw new Error('The route has no pool of the program.')
    return { pool, pays: pool.mints[0].address === route[0]?.tokenIn ? 0 : 1 } as const
  }
  return {
    async exactIn(route, amountRaw) {
      const { pool, pays } = poolOf(route)
      return (await site.asks({ pays, exact: 'paid', amountRaw, limitRaw: 1n }, pool))?.gotRaw ?? 0n
    },
    async exactOut(route, amountRaw) {
      const { pool, pays } = poolOf(route)
      return (await site.asks({ pays, exact: 'got', amountRaw, limitRaw: most }, pool))?.paidRaw ?? 0n
    },
  }
}

function chainControlOf({ solana }: AmmSite): ChainControl {
  return {
    // What a wallet signs moves its tokens: nobody else is let.
    approve: async () => {},
    first: {},
    // A blockhash lives for 150 blocks.
    passTime: async () => solana.blocks(100),
    async inOneBlock(during) {
      solana.lead(holdsAll)
      await during()
      const [, last] = solana.ledger.waiting
      if (!last) throw new Error('There are no two to choose from.')
      const { signature } = last.wire
      solana.lead(({ wire }) => (wire.signature === signature ? 'takes' : 'holds'))
      await until('the second goes first', async () => solana.ledger.find(signature) !== undefined)
      solana.lead(takesAll)
    },
  }
}
