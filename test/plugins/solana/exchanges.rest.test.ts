import { expect } from 'chai'
import type { Address } from '@solana/kit'
import { realProgram } from '../../../tools/solana-node/programs/real.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import { here, startAmmSite, type AmmSite } from './amm-site.ts'

const outcome = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body?.name}`)
const confirmed = { txState: 'CONFIRMED', txStatus: 1 }

for (const [connector, program] of [
  ['raydium', 'raydium_cp_swap'],
  ['meteora', 'cp_amm'],
] as const) {
  const found = realProgram(program)
  const without = 'missing' in found ? ` (left out: ${found.missing})` : ''
  const title = `${connector} on its real program${without}`
  ;(without ? describe.skip : describe)(title, () => {
    let site: AmmSite
    let client: Client
    before(async () => {
      site = await startAmmSite({ exchanges: [connector] })
      client = site.client
      await site.solana.mintTo(site.wallets[0] as Address, site.solana.mints.FEES, 10n ** 12n)
      site.solana.blocks(2)
    })
    after(() => site?.stop())

    const venue = { ...here, connector }
    const pairs: readonly (readonly [string, string])[] = [
      ['BASE', 'USDC'],
      ['USDC', 'BASE'],
      ['SOL', 'USDC'],
      ['USDC', 'SOL'],
      ...(connector === 'raydium'
        ? ([
            ['FEES', 'USDC'],
            ['USDC', 'FEES'],
          ] as const)
        : []),
    ]

    for (const [base, quote] of pairs)
      for (const side of ['SELL', 'BUY'] as const)
        it(`fills a ${side} of ${base} for ${quote} as it was quoted, to the unit`, async () => {
          const swap = { ...venue, base, quote, side, amount: '0.25' }
          const price = await client.post('/amm/price', swap)
          expect(outcome(price), price.text).to.equal('200')
          const trade = await client.post('/amm/trade', { ...swap, address: site.wallets[0] })
          expect(outcome(trade), trade.text).to.equal('200')
          expect(trade.body.expectedAmount).to.equal(price.body.expectedAmount)
          const { fill } = await site.polled(trade.body.txHash, confirmed)
          const [paid, got] =
            side === 'BUY' ? [trade.body.expectedAmount, trade.body.amount] : [trade.body.amount, trade.body.expectedAmount]
          expect(fill).to.include({ amountIn: paid, amountOut: got })
        })
  })
}
