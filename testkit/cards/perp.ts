import { expect } from 'chai'
import { expectClose, expectNear, expectSame } from './expect.ts'
import { createPerpFixture, tickerOf, type Market, type PerpFixture } from './perp-fixture.ts'
import { figureCards, onChainCards } from './perp-on-chain.ts'
import { addCards, toRaw, venueFields, withoutAllowance, type AddCard, type Card, type TestVenue } from './venue.ts'

/** What every exchange of the trading type PERP_AMM must do. */
export function perpCards(venue: TestVenue, add: AddCard): void {
  // The card that closes a market for good is the last.
  const cards = [...positionCards, ...accountCards, ...refusalCards, ...figureCards, ...onChainCards, ...marketCards]
  addCards(
    cards,
    () => createPerpFixture(venue),
    add,
    (fixture) => fixture.clear(),
  )
}

const positionCards: readonly Card<PerpFixture>[] = [
  [
    'PERP-01 a long opens no lower than the mark price, and a short no higher, except for price impact',
    async ({ price }) => {
      let before: { long: number; short: number } | undefined
      for (const size of ['0.001', '0.01', '0.1', '1']) {
        const [bought, sold] = [await price('LONG', size), await price('SHORT', size)]
        const [long, short] = [Number(bought.price), Number(sold.price)]
        // Without trades the market is at its mark price, except for the mark's rounding.
        expect(long, size).to.be.at.least(Number(bought.markPrice) * 0.9999)
        expect(short, size).to.be.at.most(Number(sold.markPrice) * 1.0001)
        // A larger size never gets a better price, except in the last digits.
        expect(long, size).to.be.at.least((before?.long ?? 0) * (1 - 1e-12))
        expect(short, size).to.be.at.most((before?.short ?? Infinity) * (1 + 1e-12))
        expect(long, size).to.be.above(short)
        before = { long, short }
      }
    },
  ],
  [
    'PERP-02 an opened position has the quoted price, fee and size, and shows them',
    async ({ order, open, price, position, clear, market }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        await clear()
        const request = await order(side, 10_000)
        const quoted = await price(side, request.amount)
        const { answer, fill, blockNumber } = await open(request)
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
    'PERP-03 opening and closing at once loses only fees and price impact',
    async ({ order, open, close, price, margin, clear }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        await clear()
        const request = await order(side, 20_000)
        const [long, short] = [await price('LONG', request.amount), await price('SHORT', request.amount)]
        const before = Number((await margin()).accountValue)
        const { fill: opened } = await open(request)
        const { fill: closed } = await close()
        expect(closed.size).to.equal(opened.size)
        const lost = before - Number((await margin()).accountValue)
        // Funding of a few blocks, and rounding to the settlement token's decimals.
        const slack = 0.01
        const spread = (Number(opened.price) - Number(closed.price)) * Number(opened.size) * (side === 'LONG' ? 1 : -1)
        expectNear(lost, spread, slack, 'the difference of both prices')
        expectNear(lost, -Number(closed.realizedProfit), slack, 'the realized loss')
        expect(lost).to.be.at.least(Number(opened.fee) + Number(closed.fee) - slack)
        expect(lost).to.be.at.most((Number(long.price) - Number(short.price)) * Number(opened.size) + slack)
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
        expectNear(Number(after.positionAmt), Number(whole.amount) - Number(part.amount), 1e-9, 'the rest')
        expect(answer.position).to.include({ positionAmt: after.positionAmt, positionSide: side })
        expectClose(after.entryPrice, before.entryPrice, 1e-15, 'entry price')
        expectClose(answer.position.entryPrice, before.entryPrice, 1e-15, 'expected entry price')
        expect(Number(fill.realizedProfit)).to.not.equal(0)
      }
    },
  ],
  [
    'PERP-05 an order beyond zero turns the position, and needs the margin of what it opens',
    async ({ order, open, position, refused }) => {
      await open(await order('LONG', 10_000))
      const beyond = await order('SHORT', 30_000, { leverage: '2' })
      const short = await refused('open', { ...beyond, margin: '9000' }, '422 INSUFFICIENT_MARGIN')
      // A third of it closes the position. The rest is worth 20,000 and needs half of it as margin.
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
    'PERP-06 a close closes the whole position, or says which part',
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

const accountCards: readonly Card<PerpFixture>[] = [
  [
    'PERP-07 a deposit is in the account, and a withdrawal in the wallet, to the unit',
    async ({ move, margin, walletBalance, call, owner }) => {
      const [held, before] = [await walletBalance(), await margin()]
      await move('deposit', '123.45')
      expect(toRaw(held) - toRaw(await walletBalance())).to.equal(toRaw('123.450000'))
      const deposited = await margin()
      for (const key of ['collateral', 'freeCollateral', 'accountValue'] as const)
        expectNear(Number(deposited[key]) - Number(before[key]), 123.45, 1e-9, key)
      expectSame((await call('balance', { address: owner })).balance, deposited.collateral, 'balance')
      await move('withdraw', '123.45')
      expect(await walletBalance()).to.equal(held)
      // The withdrawal may settle earlier profit, rounded to the settlement token's decimals.
      expectNear(Number((await margin()).collateral), Number(before.collateral), 1e-5, 'collateral')
    },
  ],
  [
    'PERP-08 shown profit can be withdrawn',
    async ({ order, open, close, move, margin, walletBalance, refused, owner, other, settlement }) => {
      const before = Number((await margin()).accountValue)
      await open(await order('LONG', 20_000))
      await open(await order('LONG', 400_000, { address: other }))
      const { fill: closed } = await close()
      expect(Number(closed.realizedProfit)).to.be.above(0)
      const { freeCollateral, accountValue } = await margin()
      // Funding of a few blocks, and rounding to the settlement token's decimals.
      expectNear(Number(accountValue) - before, Number(closed.realizedProfit), 0.01, 'the profit of the account')

      const held = await walletBalance()
      const decimals = held.split('.')[1]?.length ?? 0
      const all = freeCollateral.slice(0, freeCollateral.indexOf('.') + 1 + decimals)
      const over = (Number(all) + 0.01).toFixed(2)
      const tooMuch = await refused('withdraw', { address: owner, token: settlement, amount: over }, '422 INSUFFICIENT_MARGIN')
      expectSame(tooMuch.body.details.free, all, 'free')
      await move('withdraw', all)
      expect(toRaw(await walletBalance()) - toRaw(held)).to.equal(toRaw(all))
      expectNear(Number((await margin()).accountValue), 0, 1e-5, 'the rest')
      await move('deposit', all)
    },
  ],
  [
    'PERP-09 invalid deposits and withdrawals are refused',
    async ({ refused, owner, settlement, venue }) => {
      const request = { address: owner, token: settlement, amount: '1' }
      for (const endpoint of ['deposit', 'withdraw']) {
        for (const amount of ['0', '-1', '0.0000000000000000001', '1e78'])
          await refused(endpoint, { ...request, amount }, '400 INCOMPLETE_PARAMS', 'amount')
        await refused(endpoint, { ...request, token: 'NOPE' }, '404 TOKEN_NOT_SUPPORTED')
      }
      await refused('deposit', { ...request, amount: '1e12' }, '422 INSUFFICIENT_BALANCE')
      await withoutAllowance(venue, owner, settlement, () => refused('deposit', request, '422 INSUFFICIENT_ALLOWANCE'))
      const rich = await refused('withdraw', { ...request, amount: '1e12' }, '422 INSUFFICIENT_MARGIN')
      expect(rich.body.details).to.have.all.keys('free', 'needed')
    },
  ],
]

const bad = '400 INCOMPLETE_PARAMS'

const refusalCards: readonly Card<PerpFixture>[] = [
  [
    'PERP-10 a leverage above the maximum, and an invalid one, are refused, naming the field',
    async ({ order, refused, call, market }) => {
      const { maxLeverage } = await call('market-status', { ...market })
      const request = await order('LONG', 1_000)
      for (const leverage of [`${Number(maxLeverage)}.000001`, '1000000', '0', '0.0', '-1', 'all'])
        await refused('open', { ...request, leverage }, bad, 'leverage')
      const most = await refused('open', { ...request, leverage: '1000' }, bad, 'leverage')
      expect(most.body.message).to.contain(String(Number(maxLeverage)))
    },
  ],
  [
    'PERP-11 too small a margin, and one that is not free, are refused with what is needed',
    async ({ order, price, refused, margin }) => {
      for (const side of ['LONG', 'SHORT'] as const) {
        const request = await order(side, 1_000, { leverage: '4' })
        const needed = (Number((await price(side, request.amount)).price) * Number(request.amount)) / 4
        const short = await refused('open', { ...request, margin: (needed * 0.999).toFixed(2) }, '422 INSUFFICIENT_MARGIN')
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
    'PERP-12 refuses an unknown market, an invalid size, an invalid side and an unknown wallet, naming the field',
    async ({ order, refused, market, owner, venue }) => {
      const request = await order('LONG', 1_000)
      const reading = { ...market, wallet_address: owner }
      for (const other of [
        { ...market, base: 'NOPE' },
        { ...market, quote: 'NOPE' },
        { base: market.quote, quote: market.base },
      ]) {
        await refused('open', { ...request, ...other }, '404 PAIR_NOT_FOUND')
        await refused('close', { ...other, address: owner }, '404 PAIR_NOT_FOUND')
        for (const endpoint of ['market-prices', 'market-status']) await refused(endpoint, other, '404 PAIR_NOT_FOUND')
        await refused('price', { ...other, side: 'LONG', amount: '1' }, '404 PAIR_NOT_FOUND')
        await refused('position', { ...reading, ...other }, '404 PAIR_NOT_FOUND')
      }
      for (const amount of ['0', '0.000', '-1', 'one', '1e-40', '1e80']) {
        await refused('open', { ...request, amount }, bad, 'amount')
        await refused('price', { ...market, side: 'LONG', amount }, bad, 'amount')
      }
      for (const side of ['UP', '', 'LONGSHORT']) await refused('open', { ...request, side }, bad, 'side')
      for (const address of ['0x1234', `${owner.slice(0, -1)}g`, 'So11111111111111111111111111111111111111112']) {
        await refused('open', { ...request, address }, bad, 'address')
        await refused('position', { ...reading, wallet_address: address }, bad, 'wallet_address')
      }
      await refused('open', { ...request, size: '1' }, bad, 'size')
      await refused('open', { ...request, address: `0x${'00'.repeat(19)}01` }, '404 LOAD_WALLET')
      await refused('open', { ...request, amount: '1e12', margin: '1' }, '422 PRICE_FAILED')
      for (const prefix of ['/perpAMM', '/perp']) {
        const answer = await venue.client.get(`${prefix}/pairs`, venueFields(venue))
        expect(answer.body.pairs).to.include(`${market.base}${market.quote}`)
      }
    },
  ],
  [
    'PERP-13 a price past the limit is refused before signing, and a close has the limit of its own side',
    async ({ order, open, close, price, position, refused, owner, market, clear }) => {
      const [tooHigh, tooLow] = ['422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE', '422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE']
      for (const [side, outcome, back, better] of [
        ['LONG', tooHigh, tooLow, 0.999],
        ['SHORT', tooLow, tooHigh, 1.001],
      ] as const) {
        await clear()
        const request = await order(side, 10_000)
        const { price: current } = await price(side, request.amount)
        await refused('open', { ...request, limitPrice: String(Number(current) * better) }, outcome)
        // The answered price is accepted as a limit.
        const { answer } = await open({ ...request, limitPrice: current })
        expect(answer.limitPrice).to.equal(current)
        const { markPrice } = await position()
        await refused('close', { ...market, address: owner, limitPrice: String(Number(markPrice) / better / better) }, back)
        const { answer: closed } = await close({ limitPrice: String(Number(markPrice) * (side === 'LONG' ? 0.99 : 1.01)) })
        expect(Number(closed.limitPrice) * (side === 'LONG' ? 1 : -1)).to.be.below(Number(closed.price) * (side === 'LONG' ? 1 : -1))
      }
      await refused('open', { ...(await order('LONG', 1_000)), allowedSlippage: '99/100' }, bad, 'allowedSlippage')
    },
  ],
]

const marketCards: readonly Card<PerpFixture>[] = [
  [
    'PERP-21 a paused market refuses orders, shows its positions, and continues once it is open again',
    async (fixture) => {
      const { order, open, close, position, refused, operator, market, owner } = fixture
      await open(await order('LONG', 5_000))
      const request = await order('LONG', 1_000)
      const before = await position()
      await operator.setStatus(tickerOf(market), 'paused')
      await expectNoOrders(fixture, market, request, 'paused')
      const paused = await refused('close', { ...market, address: owner }, '422 TRADE_FAILED')
      expect(paused.body.details.reason).to.contain('paused')
      const { positionAmt, positionSide, entryPrice } = before
      expect(await position()).to.include({ positionAmt, positionSide, entryPrice })
      await operator.setStatus(tickerOf(market), 'open')
      await open(request)
      await close()
    },
  ],
  [
    'PERP-22 a market that is closed for good refuses orders, and lets positions be closed',
    async (fixture) => {
      const { order, open, close, position, operator, second, call } = fixture
      await open(await order('LONG', 5_000, second))
      const request = await order('LONG', 1_000, second)
      await operator.setStatus(tickerOf(second), 'closed')
      await expectNoOrders(fixture, second, request, 'closed')
      expect((await call('pairs')).pairs).to.include(tickerOf(second))
      const { positionAmt } = await position(second)
      const { fill } = await close(second)
      expect(fill.size).to.equal(positionAmt)
      expect((await position(second)).positionAmt).to.equal('0')
    },
  ],
]

async function expectNoOrders({ refused, call }: PerpFixture, on: Market, request: object, status: string): Promise<void> {
  expect(await call('market-status', { ...on })).to.include({ isActive: false, status })
  await refused('price', { ...on, side: 'LONG', amount: '0.1' }, '422 PRICE_FAILED')
  const { body } = await refused('open', { ...request }, '422 TRADE_FAILED')
  expect(body.details.reason).to.equal(`the market is ${status}`)
}
