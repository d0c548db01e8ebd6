import { ammCards } from '../../../testkit/cards/amm.ts'
import type { TestVenue, ChainControl } from '../../../testkit/cards/venue.ts'
import type { Quoter } from '../../../core/contracts/devnet.ts'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { until } from '../../transactions/site.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

const most = 2n ** 64n - 1n

describe('an exchange on Solana, by the cards of every AMM', () => {
  let site: AmmSite
  const venue: TestVenue = {
    ...here,
    connector: 'poolswap',
    client: undefined as never,
    rpcUrl: '',
    wallets: ['', '', ''],
    pairs: [
      ['BASE', 'USDC'],
      ['USDC', 'BASE'],
    ],
    unquoted: [],
    quoter: undefined,
  }
  before(async () => {
    site = await startAmmSite({ slotMs: 40, skipped: 0.2 })
    Object.assign(venue, { client: site.client, wallets: site.wallets, quoter: quoterOf(site), chainControl: chainControlOf(site) })
  })
  after(() => site?.stop())

  ammCards(venue, (title, run) => {
    // The program has no deadline. amm-trade.rest.test.ts tests expired transactions on Solana.
    if (!title.startsWith('AMM-08')) it(title, run)
  })
})

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
