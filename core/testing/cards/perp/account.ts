import { expect } from 'chai'
import { raw } from '../../../../testkit/cards/venue.ts'
import { expectNear, expectSame } from './amounts.ts'
import type { Card } from './index.ts'

export const accountCards: readonly Card[] = [
  [
    'PERP-07 what is deposited is in the account, and what is withdrawn in the wallet, to the unit',
    async ({ move, margin, inWallet, answered, owner }) => {
      const [held, kept] = [await inWallet(), await margin()]
      await move('deposit', '123.45')
      expect(raw(held) - raw(await inWallet())).to.equal(raw('123.450000'))
      const deposited = await margin()
      for (const key of ['collateral', 'freeCollateral', 'accountValue'] as const)
        expectNear(Number(deposited[key]) - Number(kept[key]), 123.45, 1e-9, key)
      expectSame((await answered('balance', { address: owner })).balance, deposited.collateral, 'balance')
      await move('withdraw', '123.45')
      expect(await inWallet()).to.equal(held)
      // What was earned before may be settled by it, in the settlement token's units.
      expectNear(Number((await margin()).collateral), Number(kept.collateral), 1e-5, 'collateral')
    },
  ],
  [
    'PERP-08 profit that is shown is profit that can be withdrawn',
    async ({ order, open, close, move, margin, inWallet, refused, owner, other, settlement }) => {
      const before = Number((await margin()).accountValue)
      await open(await order('LONG', 20_000))
      await open(await order('LONG', 400_000, { address: other }))
      const { fill: closed } = await close()
      expect(Number(closed.realizedProfit)).to.be.above(0)
      const { freeCollateral, accountValue } = await margin()
      // Funding of a few blocks, and the settlement token's rounding.
      expectNear(Number(accountValue) - before, Number(closed.realizedProfit), 0.01, 'what the account earned')

      const held = await inWallet()
      const decimals = held.split('.')[1]?.length ?? 0
      const all = freeCollateral.slice(0, freeCollateral.indexOf('.') + 1 + decimals)
      const over = (Number(all) + 0.01).toFixed(2)
      const tooMuch = await refused('withdraw', { address: owner, token: settlement, amount: over }, '422 INSUFFICIENT_MARGIN')
      expectSame(tooMuch.body.details.free, all, 'free')
      await move('withdraw', all)
      expect(raw(await inWallet()) - raw(held)).to.equal(raw(all))
      expectNear(Number((await margin()).accountValue), 0, 1e-5, 'what is left')
      await move('deposit', all)
    },
  ],
  [
    'PERP-09 what cannot be moved is refused',
    async ({ refused, owner, settlement }) => {
      const asked = { address: owner, token: settlement, amount: '1' }
      for (const verb of ['deposit', 'withdraw']) {
        for (const amount of ['0', '-1', '0.0000000000000000001', '1e78'])
          await refused(verb, { ...asked, amount }, '400 INCOMPLETE_PARAMS', 'amount')
        await refused(verb, { ...asked, token: 'NOPE' }, '404 TOKEN_NOT_SUPPORTED')
      }
      await refused('deposit', { ...asked, amount: '1e12' }, '422 INSUFFICIENT_BALANCE')
      const rich = await refused('withdraw', { ...asked, amount: '1e12' }, '422 INSUFFICIENT_MARGIN')
      expect(rich.body.details).to.have.all.keys('free', 'needed')
    },
  ],
]
