import { expect } from 'chai'
import type { Card } from './index.ts'

const bad = '400 INCOMPLETE_PARAMS'

export const refusalCards: readonly Card[] = [
  [
    'PERP-10 more leverage than the market allows, and none, are refused by their field',
    async ({ order, refused, answered, market }) => {
      const { maxLeverage } = await answered('market-status', { ...market })
      const asked = await order('LONG', 1_000)
      for (const leverage of [`${Number(maxLeverage)}.000001`, '1000000', '0', '0.0', '-1', 'all'])
        await refused('open', { ...asked, leverage }, bad, 'leverage')
      const most = await refused('open', { ...asked, leverage: '1000' }, bad, 'leverage')
      expect(most.body.message).to.contain(String(Number(maxLeverage)))
    },
  ],
  [
    'PERP-11 a margin that is too small, or more than the account has free, is told with what is needed',
    async ({ order, price, refused, margin }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        const asked = await order(side, 1_000, { leverage: '4' })
        const needed = (Number((await price(side, asked.amount)).price) * Number(asked.amount)) / 4
        const short = await refused('open', { ...asked, margin: (needed * 0.999).toFixed(2) }, '422 INSUFFICIENT_MARGIN')
        expect(Number(short.body.details.needed)).to.be.within(needed * 0.9999, needed * 1.0001)
      }
      for (const margin of ['0', '-1', '0.0000000000000000001', '1e78'])
        await refused('open', { ...(await order('LONG', 1_000)), margin }, bad, 'margin')
      const { freeCollateral } = await margin()
      const more = (Number(freeCollateral) + 1).toFixed(2)
      const poor = await refused('open', { ...(await order('LONG', 1_000)), margin: more }, '422 INSUFFICIENT_MARGIN')
      expect(Number(poor.body.details.free)).to.equal(Number(freeCollateral))
    },
  ],
  [
    'PERP-12 a market that there is not, a size that is none, a side that is neither and a wallet that is none are refused by name',
    async ({ order, refused, market, owner, bench }) => {
      const asked = await order('LONG', 1_000)
      const reading = { ...market, wallet_address: owner }
      for (const other of [
        { ...market, base: 'NOPE' },
        { ...market, quote: 'NOPE' },
        { base: market.quote, quote: market.base },
      ]) {
        await refused('open', { ...asked, ...other }, '404 PAIR_NOT_FOUND')
        await refused('close', { ...other, address: owner }, '404 PAIR_NOT_FOUND')
        for (const verb of ['market-prices', 'market-status']) await refused(verb, other, '404 PAIR_NOT_FOUND')
        await refused('price', { ...other, side: 'LONG', amount: '1' }, '404 PAIR_NOT_FOUND')
        await refused('position', { ...reading, ...other }, '404 PAIR_NOT_FOUND')
      }
      for (const amount of ['0', '0.000', '-1', 'one', '1e-40', '1e80']) {
        await refused('open', { ...asked, amount }, bad, 'amount')
        await refused('price', { ...market, side: 'LONG', amount }, bad, 'amount')
      }
      for (const side of ['UP', '', 'LONGSHORT']) await refused('open', { ...asked, side }, bad, 'side')
      for (const address of ['0x1234', `${owner.slice(0, -1)}g`, 'So11111111111111111111111111111111111111112']) {
        await refused('open', { ...asked, address }, bad, 'address')
        await refused('position', { ...reading, wallet_address: address }, bad, 'wallet_address')
      }
      await refused('open', { ...asked, size: '1' }, bad, 'size')
      await refused('open', { ...asked, address: `0x${'00'.repeat(19)}01` }, '404 LOAD_WALLET')
      await refused('open', { ...asked, amount: '1e12', margin: '1' }, '422 PRICE_FAILED')
      for (const prefix of ['/perpAMM', '/perp']) {
        const { chain, network, connector } = bench
        const answer = await bench.client.get(`${prefix}/pairs`, { chain, network, connector })
        expect(answer.body.pairs).to.include(`${market.base}${market.quote}`)
      }
    },
  ],
  [
    'PERP-13 a price past the limit is refused before signing, and a close has the limit of its own side',
    async ({ order, open, close, price, position, refused, owner, market, clear }) => {
      const [dearer, cheaper] = ['422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE', '422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE']
      for (const [side, outcome, back, better] of [
        ['LONG', dearer, cheaper, 0.999],
        ['SHORT', cheaper, dearer, 1.001],
      ] as const) {
        await clear()
        const asked = await order(side, 10_000)
        const { price: now } = await price(side, asked.amount)
        await refused('open', { ...asked, limitPrice: String(Number(now) * better) }, outcome)
        // What was answered may be sent back.
        const { answer } = await open({ ...asked, limitPrice: now })
        expect(answer.limitPrice).to.equal(now)
        const { markPrice } = await position()
        await refused('close', { ...market, address: owner, limitPrice: String(Number(markPrice) / better / better) }, back)
        const { answer: closed } = await close({ limitPrice: String(Number(markPrice) * (side === 'LONG' ? 0.99 : 1.01)) })
        expect(Number(closed.limitPrice) * (side === 'LONG' ? 1 : -1)).to.be.below(Number(closed.price) * (side === 'LONG' ? 1 : -1))
      }
      await refused('open', { ...(await order('LONG', 1_000)), allowedSlippage: '99/100' }, bad, 'allowedSlippage')
    },
  ],
]
