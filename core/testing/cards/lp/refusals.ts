import { expect } from 'chai'
import type { Card } from './index.ts'

const bad = '400 INCOMPLETE_PARAMS'

export const refusalCards: readonly Card[] = [
  [
    'LP-11 bounds that make no range are refused by their field',
    async ({ around, refused }) => {
      const asked = await around(0.9, 1.1)
      const { lowerPrice, upperPrice } = asked
      await refused('add', { ...asked, lowerPrice: upperPrice, upperPrice: lowerPrice }, bad, 'lowerPrice')
      await refused('add', { ...asked, upperPrice: lowerPrice }, bad, 'lowerPrice')
      await refused('add', { ...asked, lowerPrice: '0' }, bad, 'lowerPrice')
      await refused('add', { ...asked, lowerPrice: '1e-90' }, bad, 'lowerPrice')
      await refused('add', { ...asked, upperPrice: '1e90' }, bad, 'upperPrice')
      await refused('add', { ...asked, lowerPrice: '1e89', upperPrice: '1e90' }, bad, 'lowerPrice')
      await refused('add', { ...asked, lowerPrice: undefined }, bad, 'lowerPrice')
      await refused('add', { ...asked, lowerPrice: undefined, upperPrice: undefined }, bad, 'lowerPrice')
    },
  ],
  [
    'LP-12 amounts that give no liquidity are refused by their field',
    async ({ around, refused }) => {
      const asked = await around(0.9, 1.1)
      await refused('add', { ...asked, amount0: '0', amount1: '0' }, bad, 'amount0')
      await refused('add', { ...asked, amount0: '0' }, bad, 'amount0')
      await refused('add', { ...asked, amount1: '0' }, bad, 'amount1')
      await refused('add', { ...asked, amount0: '1e75' }, bad, 'amount0')
      await refused('add', { ...asked, amount0: '1.1234567890123456789' }, bad, 'amount0')
      const rich = await refused('add', { ...asked, amount0: '1e12', amount1: '1e15' }, '422 INSUFFICIENT_BALANCE')
      expect(rich.body.details).to.include.keys('token', 'current', 'needed')
    },
  ],
  [
    'LP-13 a fee tier that there is not is refused with those that there are',
    async ({ around, refused, price, ground: { fee } }) => {
      const asked = await around(0.9, 1.1)
      for (const wrong of ['HUGE', '1234567'])
        expect((await refused('add', { ...asked, fee: wrong }, bad, 'fee')).body.message).to.contain(String(fee))
      await refused('price', { token0: asked.token0, token1: asked.token1, fee: '0.3%' }, bad, 'fee')
      expect((await price({ fee: String(fee) })).fee).to.equal(fee)
    },
  ],
  [
    'LP-14 a position of another, or one that there is not, cannot be touched',
    async ({ around, add, refused, position, owner, other }) => {
      const asked = await around(0.9, 1.1)
      const { fill } = await add(asked)
      const { tokenId } = fill
      const before = await position(tokenId)
      for (const [verb, fields] of [
        ['remove', {}],
        ['collect_fees', {}],
        ['add', asked],
      ] as const) {
        const barred = await refused(verb, { ...fields, address: other, tokenId }, '404 UNKNOWN_POSITION')
        expect(barred.body.message).to.contain(owner)
        for (const nobodys of ['0', '999999999999', String(2n ** 256n), '9'.repeat(78)])
          await refused(verb, { ...fields, address: owner, tokenId: nobodys }, '404 UNKNOWN_POSITION')
      }
      await refused('position', { tokenId: '999999999999' }, '404 UNKNOWN_POSITION')
      const { liquidity, amount0, amount1 } = before
      expect(await position(tokenId)).to.include({ liquidity, amount0, amount1, owner })
    },
  ],
  [
    'LP-15 what does not fit its position is refused by its field',
    async ({ around, add, refused, owner, ground: { token0, fee } }) => {
      const asked = await around(0.9, 1.1)
      const { tokenId } = (await add(asked)).fill
      await refused('add', { ...asked, tokenId, lowerPrice: String(Number(asked.lowerPrice) / 2) }, bad, 'lowerPrice')
      await refused('add', { ...asked, tokenId, fee: String(fee + 1) }, bad, 'fee')
      const stranger = ['WETH', 'USDC', 'DAI', 'WBTC', 'USDT'].find((each) => each !== token0 && each !== asked.token1)
      await refused('add', { ...asked, tokenId, token1: stranger }, bad, 'token0')
      await refused('add', { ...asked, token1: token0 }, bad, 'token1')
      for (const decreasePercent of ['0', '100.000001', '1000'])
        await refused('remove', { address: owner, tokenId, decreasePercent }, bad, 'decreasePercent')
      await refused('remove', { address: owner, tokenId, decreasePercent: '50', burn: true }, bad, 'burn')
      await refused('remove', { address: owner, tokenId, allowedSlippage: '99/100' }, bad, 'allowedSlippage')
    },
  ],
]
