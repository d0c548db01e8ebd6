import { expect } from 'chai'
import { expectClose, expectNear, tickerOf, expectSame, type PerpFixture, type Market, createPerpFixture } from './perp-fixture.ts'
import { figureCards, onChainCards } from './perp-on-chain.ts'
import { toRaw, type AddCard, type TestVenue } from './venue.ts'

const positionCards: readonly Card[] = [
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

const accountCards: readonly Card[] = [
  [
    'PERP-07 what is deposited is in the account, and what is withdrawn in the wallet, to the unit',
    async ({ move, margin, inWallet, answered, owner }) => {
      const [held, kept] = [await inWallet(), await margin()]
      await move('deposit', '123.45')
      expect(toRaw(held) - toRaw(await inWallet())).to.equal(toRaw('123.450000'))
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
      expect(toRaw(await inWallet()) - toRaw(held)).to.equal(toRaw(all))
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

const bad = '400 INCOMPLETE_PARAMS'

const refusalCards: readonly Card[] = [
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

const marketCards: readonly Card[] = [
  [
    'PERP-21 a paused market takes no orders, shows what is in it, and goes on once it is open again',
    async (desk) => {
      const { order, open, close, position, refused, operator, market, owner } = desk
      await open(await order('LONG', 5_000))
      const asked = await order('LONG', 1_000)
      const before = await position()
      await operator.setStatus(tickerOf(market), 'paused')
      await takesNoOrders(desk, market, asked, 'paused')
      const paused = await refused('close', { ...market, address: owner }, '422 TRADE_FAILED')
      expect(paused.body.details.reason).to.contain('paused')
      const { positionAmt, positionSide, entryPrice } = before
      expect(await position()).to.include({ positionAmt, positionSide, entryPrice })
      await operator.setStatus(tickerOf(market), 'open')
      await open(asked)
      await close()
    },
  ],
  [
    'PERP-22 a market that is closed for good takes no orders, and lets positions go',
    async (desk) => {
      const { order, open, close, position, operator, second, answered } = desk
      await open(await order('LONG', 5_000, second))
      const asked = await order('LONG', 1_000, second)
      await operator.setStatus(tickerOf(second), 'closed')
      await takesNoOrders(desk, second, asked, 'closed')
      expect((await answered('pairs')).pairs).to.include(tickerOf(second))
      const { positionAmt } = await position(second)
      const { fill } = await close(second)
      expect(fill.size).to.equal(positionAmt)
      expect((await position(second)).positionAmt).to.equal('0')
    },
  ],
]

async function takesNoOrders({ refused, answered }: PerpFixture, on: Market, asked: object, status: string): Promise<void> {
  expect(await answered('market-status', { ...on })).to.include({ isActive: false, status })
  await refused('price', { ...on, side: 'LONG', amount: '0.1' }, '422 PRICE_FAILED')
  const { body } = await refused('open', { ...asked }, '422 TRADE_FAILED')
  expect(body.details.reason).to.equal(`the market is ${status}`)
}

export type Card = readonly [title: string, run: (desk: PerpFixture) => Promise<void>]

/** What every exchange of the trading type PERP_AMM must do, whatever is behind it. */
export function perpCards(bench: TestVenue, add: AddCard): void {
  let desk: Promise<PerpFixture> | undefined
  // What closes a market for good is the last.
  for (const [title, run] of [...positionCards, ...accountCards, ...refusalCards, ...figureCards, ...onChainCards, ...marketCards])
    add(title, async () => {
      const opened = await (desk ??= createPerpFixture(bench))
      await opened.clear()
      await run(opened)
    })
}
