import { ammCards } from '../../../testkit/cards/amm.ts'
import { solanaControl } from '../../../testkit/cards/solana-control.ts'
import type { TestVenue } from '../../../testkit/cards/venue.ts'
import { constantProductPools, dammPools, programQuoter, type AccountPools } from '../../../kits/solana/amm/index.ts'
import { classes } from '../../../plugins/raydium/index.ts'
import { configs } from '../../../plugins/meteora/index.ts'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'
import { constantProduct } from '../../../plugins/poolswap/pool.ts'

const missing = (program: 'raydium_cp_swap' | 'cp_amm') => {
  const found = realProgram(program)
  return 'missing' in found ? found.missing : undefined
}

/** Connectors, with why their program is not there, and the pools by which the program is asked. */
const exchanges: readonly (readonly [string, string | undefined, (site: AmmSite) => AccountPools])[] = [
  ['poolswap', undefined, ({ pools }) => constantProduct(pools[0].program, [])],
  ['raydium', missing('raydium_cp_swap'), () => constantProductPools({ programVersion: 'early-2025', classes })],
  ['meteora', missing('cp_amm'), () => dammPools({ configs })],
]

for (const [connector, absent, poolsOf] of exchanges) {
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
      quoter: undefined,
      chainControl: solanaControl(() => site.solana.url),
    }
    before(async () => {
      site = await startAmmSite({
        slotMs: 40,
        skipped: 0.2,
        exchanges: connector === 'poolswap' ? [] : [connector],
        withFees: true,
        hasControls: true,
      })
      Object.assign(venue, {
        client: site.client,
        wallets: site.wallets,
        quoter: programQuoter({ rpcUrl: site.solana.url, payer: site.payer }, poolsOf(site)),
      })
    })
    after(() => site?.stop())

    // amm-trade.rest.test.ts tests transactions that nobody took while their blockhash lived.
    ammCards(venue, it)
  })
}
