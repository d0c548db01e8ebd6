import { expect } from 'chai'
import { expectClose, expectNear } from '../../core/testing/cards/perp/amounts.ts'
import { tickerOf } from './perp-fixture.ts'
import type { Card } from '../../core/testing/cards/perp/index.ts'

export const positionCards: readonly Card[] = [
  [
    "PERP-01 a long's entry is not below the mark price, nor a short's above it, by more than impact explains",
    async ({ price }) => {
      let before: { long: number; short: number } | undefined
      for (const size of ['0.001', '0.01', '0.1', '1']) {
        const [bought, sold] = [await price('LONG', size), await price('SHORT', size)]
        const [long, short] = [Number(bought.price), Number(sold.price)]
        // Nobody has traded yet, so the market is at its mark price; what is left is the mark's own rounding.
        expect(long, size).to.be.at.least(Number(bought.markPrice) * 0.9999)
        expect(short, size).to.be.at.most(Number(sold.markPrice) * 1.0001)
        // A larger size never gets a better price, but for the last digits.
        expect(long, size).to.be.at.least((before?.long ?? 0) * (1 - 1e-12))
        expect(short, size).to.be.at.most((before?.short ?? Infinity) * (1 + 1e-12))
        expect(long, size).to.be.above(short)
        before = { long, short }
      }
    },
  ],
  [
    'PERP-02 what is opened is what was promised, and what the position shows',
    async ({ order, open, price, position, clear, market }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        await clear()
        const asked = await order(side, 10_000)
        const quoted = await price(side, asked.amount)
        const { answer, fill, blockNumber } = await open(asked)
        expect(answer.price).to.equal(quoted.price)
        expect(fill).to.include({ price: quoted.price, fee: quoted.fee, size: quoted.amount })
        expect(Number(fill.realizedProfit)).to.equal(0)
        const shown = await position()
        expect(shown.blockNumber).to.be.at.least(blockNumber)
        const { entryPrice } = answer.position
        const expected = { positionAmt: quoted.amount, positionSide: side, tickerSymbol: tickerOf(market), entryPrice }
        expect(answer.position).to.include(expected)
        expect(shown).to.include(expected)
        expectClose(entryPrice, quoted.price, 1e-15, 'entry price')
      }
    },
  ],
  [
    'PERP-03 opening and closing at once loses only fees and impact',
    async ({ order, open, close, price, margin, clear }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        await clear()
        const asked = await order(side, 20_000)
        const [dear, cheap] = [await price('LONG', asked.amount), await price('SHORT', asked.amount)]
        const before = Number((await margin()).accountValue)
        const { fill: opened } = await open(asked)
        const { fill: closed } = await close()
        expect(closed.size).to.equal(opened.size)
        const lost = before - Number((await margin()).accountValue)
        // Funding of a few blocks, and the settlement token's rounding.
        const slack = 0.01
        const between = (Number(opened.price) - Number(closed.price)) * Number(opened.size) * (side === 'LONG' ? 1 : -1)
        expectNear(lost, between, slack, 'what was paid more than was got')
        expectNear(lost, -Number(closed.realizedProfit), slack, 'what was realized')
        expect(lost).to.be.at.least(Number(opened.fee) + Number(closed.fee) - slack)
        expect(lost).to.be.at.most((Number(dear.price) - Number(cheap.price)) * Number(opened.size) + slack)
      }
    },
  ],
  [
    'PERP-04 opening the other side reduces, keeps the entry price, and needs no margin',
    async ({ order, open, position, clear }) => {
      for (const [side, back] of [
        ['LONG', 'SHORT'],
        ['SHORT', 'LONG'],
      ] as const) {
        await clear()
        const whole = await order(side, 20_000)
        await open(whole)
        const before = await position()
        const part = await order(back, 5_000, { margin: '0.01', leverage: '1' })
        const { answer, fill } = await open(part)
        const after = await position()
        expect(after.positionSide).to.equal(side)
        expectNear(Number(after.positionAmt), Number(whole.amount) - Number(part.amount), 1e-9, 'what is left')
        expect(answer.position).to.include({ positionAmt: after.positionAmt, positionSide: side })
        expectClose(after.entryPrice, before.entryPrice, 1e-15, 'entry price')
        expectClose(answer.position.entryPrice, before.entryPrice, 1e-15, 'expected entry price')
        expect(Number(fill.realizedProfit)).to.not.equal(0)
      }
    },
  ],
  [
    'PERP-05 an order that goes beyond zero turns the position, and needs the margin of what it opens',
    async ({ order, open, position, refused }) => {
      await open(await order('LONG', 10_000))
      const beyond = await order('SHORT', 30_000, { leverage: '2' })
      const short = await refused('open', { ...beyond, margin: '9000' }, '422 INSUFFICIENT_MARGIN')
      // A third of it closes: what is left is worth 20,000, at twice its margin.
      expectClose(short.body.details.needed, 10_000, 0.01, 'needed')
      const { answer, fill } = await open({ ...beyond, margin: '11000' })
      const after = await position()
      expect(after.positionSide).to.equal('SHORT')
      expect(answer.position).to.include({ positionAmt: after.positionAmt, positionSide: 'SHORT' })
      expectClose(after.entryPrice, fill.price, 1e-12, 'entry price')
      expectClose(answer.position.entryPrice, after.entryPrice, 1e-12, 'expected entry price')
    },
  ],
  [
    'PERP-06 closing closes all of it, or says which part',
    async ({ order, open, close, position, refused, owner, market }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        await open(await order(side, 10_000))
        for (let tries = 0; tries < 10; tries++) {
          const before = await position()
          const { answer, fill } = await close()
          expect(fill).to.include({ size: answer.amount, price: answer.price })
          expectClose(fill.closedRatio ?? '', Number(fill.size) / Number(before.positionAmt), 1e-9, 'closed')
          if (Number(fill.closedRatio) === 1) break
        }
        expect(await position()).to.include({ positionAmt: '0', entryPrice: '0', liquidationPrice: '0', leverage: '0' })
        await refused('close', { ...market, address: owner }, '404 UNKNOWN_POSITION')
      }
    },
  ],
]
