import { expect } from 'chai'
import type { MarginBookOperator } from '../../../core/contracts/devnet.ts'
import { withoutAllowance } from '../venue.ts'
import { bodyOf, expectRefusal, expectSame, waitFor } from '../expect.ts'
import { openStates, tradesTokens } from './fixture.ts'
import type { BookCard, BookFixture, Fields, FundsExact, Order, Side, Trade } from './fixture.ts'
import { exact, plain, times } from './grid.ts'

type MarginFixture = BookFixture<MarginBookOperator>

const figures = ['equity', 'collateral', 'borrowed', 'freeCollateral', 'initialMargin', 'maintenanceMargin'] as const

export const marginCards: readonly BookCard<MarginBookOperator>[] = [
  [
    "MARGIN-01 the account's figures and its margin ratio equal the exchange's own, with and without a loan",
    async (fixture) => {
      await expectAccount(fixture)
      await withLoan(fixture, async () => expectAccount(fixture))
      await expectAccount(fixture)
    },
  ],
  [
    'MARGIN-02 a borrow raises `borrowed` by its amount, and a repayment with interest brings it to zero',
    async (fixture) => {
      const { operator, owner, market, funds } = fixture
      const before = await account(fixture)
      expectSame(before.tokens[market.quote]?.borrowed ?? '0', '0', 'borrowed before')
      const had = await funds()
      const amount = loanOf(fixture)
      await move(fixture, 'borrow', amount)
      const borrowed = await account(fixture)
      expect(Number(borrowed.borrowed)).to.be.above(Number(before.borrowed))
      expectSame(borrowed.tokens[market.quote]?.borrowed ?? '0', await operator.owed(owner, market.quote), 'borrowed')
      expect((await funds()).quote.free - had.quote.free).to.equal(exact(amount))

      await operator.pass(86_400)
      const owed = await operator.owed(owner, market.quote)
      expect(Number(owed), 'owed with the interest of a day').to.be.above(Number(amount))
      const rate = Number(borrowed.tokens[market.quote]?.borrowRate)
      const interest = (Number(owed) - Number(amount)) / Number(amount)
      expect(interest / (rate / 365), 'the interest of a day divided by the returned rate').to.be.within(0.98, 1.02)

      // More than will be owed. The surplus is not taken.
      await move(fixture, 'repay', roundedUp(owed))
      await waitFor(
        'nothing is owed',
        () => account(fixture),
        ({ tokens }) => Number(tokens[market.quote]?.borrowed ?? 0) === 0,
      )
      expectSame(await operator.owed(owner, market.quote), '0', 'owed by the exchange')
      expectSame((await account(fixture)).borrowed, before.borrowed, 'borrowed after')
      const lost = had.quote.free - (await funds()).quote.free
      expect(lost >= exact(owed) - exact(amount), `${plain(lost)} was paid in interest`).to.equal(true)
    },
  ],
  [
    'MARGIN-03 borrowed and available amounts are returned by token, within its cap',
    async (fixture) => {
      await withLoan(fixture, async () => {
        const { tokens, mode, sharedWith } = await account(fixture)
        expect(mode).to.be.a('string')
        expect(sharedWith).to.be.an('array')
        const quote = tokens[fixture.market.quote]
        if (!quote) throw new Error(`The account lacks ${fixture.market.quote}`)
        expect(Number(quote.borrowRate)).to.be.above(0)
        if (quote.borrowCap !== undefined) expect(Number(quote.borrowed)).to.be.at.most(Number(quote.borrowCap))
      })
    },
  ],
  [
    'MARGIN-04 more than is free, than can be borrowed, or than is owed is refused',
    async (fixture) => {
      const { market } = fixture
      for (const endpoint of ['deposit', 'withdraw', 'borrow', 'repay']) {
        for (const amount of ['0', '-1', 'one', '1e-40', '1e80'])
          await refused(fixture, endpoint, { amount }, '400 INCOMPLETE_PARAMS', 'amount')
        await refused(fixture, endpoint, { token: 'NOPE' }, '404 TOKEN_NOT_SUPPORTED')
      }
      await refused(fixture, 'repay', { amount: loanOf(fixture) }, '422 TRADE_FAILED')
      for (const endpoint of ['borrow', 'withdraw']) {
        const { body } = await refused(fixture, endpoint, { token: market.quote, amount: '100000000' }, '422 INSUFFICIENT_MARGIN')
        expect(body.details).to.include.all.keys('free', 'needed')
      }
    },
  ],
  [
    'MARGIN-05 a withdrawal is in the wallet, to the unit',
    async (fixture) => {
      const { funds, market, operator, owner } = fixture
      const before = await funds()
      const amount = loanOf(fixture)
      const deposited = async () => exact((await account(fixture)).tokens[market.quote]?.deposited ?? '0')
      const held = await deposited()
      await move(fixture, 'withdraw', amount)
      await waitFor('it is withdrawn', deposited, (current) => held - current === exact(amount))
      await move(fixture, 'deposit', amount)
      await waitFor('it is deposited again', deposited, (current) => current === held)
      expect((await funds()).quote).to.deep.equal(before.quote)
      expectSame(await operator.owed(owner, market.quote), '0', 'owed')
    },
  ],
]

interface AccountAnswer extends Record<(typeof figures)[number], string> {
  mode: string
  sharedWith: string[]
  marginRatio: string
  tokens: Record<string, { deposited: string; borrowed: string; available: string; borrowRate: string; borrowCap?: string }>
}

const account = async ({ read, owner }: MarginFixture): Promise<AccountAnswer> => bodyOf(read('account', { address: owner }))

/** About the value of five units, in few digits. */
const loanOf = ({ fair, unit }: MarginFixture) => Math.ceil(fair * Number(unit) * 5).toFixed(0)

async function expectAccount(fixture: MarginFixture): Promise<void> {
  const shown = await account(fixture)
  const views = await fixture.operator.views(fixture.owner)
  for (const key of figures) expectSame(shown[key], views[key], key)
  expectSame(shown.marginRatio, views.marginRatio ?? '0', 'margin ratio')
}

/** Deposits, withdraws, borrows or repays, which must succeed. */
async function move({ post, owner, market }: MarginFixture, endpoint: string, amount: string): Promise<void> {
  const { state, reason } = await bodyOf(post(endpoint, { address: owner, token: market.quote, amount }))
  expect(state, `${endpoint} ${amount}: ${reason}`).to.be.oneOf(['PENDING', 'DONE'])
}

async function withLoan(fixture: MarginFixture, during: () => Promise<void>): Promise<void> {
  const { operator, owner, market } = fixture
  await move(fixture, 'borrow', loanOf(fixture))
  await waitFor(
    'the loan is owed',
    () => operator.owed(owner, market.quote),
    (owed) => Number(owed) > 0,
  )
  try {
    await during()
  } finally {
    await move(fixture, 'repay', roundedUp(await operator.owed(owner, market.quote)))
    await waitFor(
      'nothing is owed',
      () => operator.owed(owner, market.quote),
      (owed) => Number(owed) === 0,
    )
  }
}

/** Rounded up to four decimals plus one unit, since the debt grows until it is paid. */
const roundedUp = (owed: string) => (Math.ceil(Number(owed) * 10_000 + 1) / 10_000).toFixed(4)

async function refused({ post, owner, market }: MarginFixture, endpoint: string, fields: Fields, outcome: string, field?: string) {
  const answer = await post(endpoint, { address: owner, token: market.quote, amount: '1', ...fields })
  expectRefusal(answer, outcome, `${endpoint} ${JSON.stringify(fields)}`, field)
  return answer
}

/** A deterministic generator of pseudo-random numbers (Park and Miller). */
function createRandom(seed: number): (count: number) => number {
  let state = seed
  return (count) => {
    state = (state * 48_271) % 2_147_483_647
    return state % count
  }
}

export const balanceCards: readonly BookCard[] = [
  [
    "BOOK-15 balances equal the exchange's own figures for what orders lock and what is free",
    async (fixture) => {
      const { place, order, read, owner, funds, market } = fixture
      await place(order('BUY', 0.99))
      await place(order('SELL', 1.01))
      const { balances } = await bodyOf(read('balances', { address: owner }))
      const has = await funds()
      for (const [symbol, { free, locked }] of [
        [market.base, has.base],
        [market.quote, has.quote],
      ] as const) {
        const shown = balances[symbol]
        expectSame(shown.locked, plain(locked), `locked ${symbol}`)
        expect(exact(shown.total) - exact(shown.available), `${symbol} that is not available`).to.equal(exact(shown.locked))
        // The rest may be in the wallet.
        expect(exact(shown.available) <= free, `available ${symbol}`).to.equal(true)
      }
    },
    tradesTokens,
  ],
  [
    'BOOK-16 money is conserved to the unit over a sequence of orders, fills and cancels',
    async (fixture) => {
      const { owner, other, trades, market, clear } = fixture
      const wallets = [owner, other]
      const all = async () => Promise.all(wallets.map((address) => fixture.funds(address)))
      const known = await tradeIds(fixture, wallets)
      const before = await all()
      await trade(fixture, wallets)
      await clear()
      const after = await all()

      const newTrades: Trade[][] = []
      for (const address of wallets)
        newTrades.push((await trades({ address })).filter(({ tradeId }) => !known.has(`${address} ${tradeId}`)))
      expect(newTrades.flat(), 'trades').to.not.have.length(0)
      for (const token of ['base', 'quote'] as const) {
        const total = (funds: readonly Record<'base' | 'quote', FundsExact>[]) =>
          funds.reduce((sum, each) => sum + each[token].free + each[token].locked, 0n)
        const fees = feesIn(newTrades.flat(), market[token])
        expect(plain(total(after)), `${token} of both wallets`).to.equal(plain(total(before) - fees))
        // Prices of trades are shown with 18 digits at most.
        for (const [index, mine] of newTrades.entries()) {
          const got = after[index]?.[token] ?? { free: 0n, locked: 0n }
          const had = before[index]?.[token] ?? { free: 0n, locked: 0n }
          const moved = got.free + got.locked - had.free - had.locked
          const traded = movedBy(mine, token) - feesIn(mine, market[token])
          const off = moved > traded ? moved - traded : traded - moved
          const turnover = mine.reduce((sum, { price, amount }) => sum + times(exact(amount), exact(price)), 0n)
          const slack = token === 'base' ? 0n : turnover / 10n ** 15n
          expect(off <= slack, `${token} of wallet ${index}: ${plain(moved)} by its balances, ${plain(traded)} by its trades`).to.equal(
            true,
          )
        }
      }
    },
    tradesTokens,
  ],
  [
    'BOOK-17 an order that the wallet cannot pay is refused, with what it needs',
    async ({ order, refused, funds, operator, market, owner, fair, venue }) => {
      const { base, quote } = await funds()
      const tooMuch = { BUY: Math.ceil((Number(plain(quote.free)) / fair) * 1.2), SELL: Math.ceil(Number(plain(base.free)) * 1.1) }
      for (const side of ['BUY', 'SELL'] as const) {
        const amount = String(tooMuch[side] + 1)
        const { body } = await refused(order(side, side === 'BUY' ? 0.99 : 1.01, { amount }), '422 INSUFFICIENT_BALANCE')
        expect(body.details).to.include.all.keys('token', 'current', 'needed')
        expect(body.details.token).to.equal(side === 'BUY' ? market.quote : market.base)
        expectSame(body.details.current, (await operator.funds(owner, body.details.token)).free, 'current')
        expect(Number(body.details.needed)).to.be.above(Number(body.details.current))
        await withoutAllowance(venue, owner, body.details.token, () =>
          refused(order(side, side === 'BUY' ? 0.99 : 1.01), '422 INSUFFICIENT_ALLOWANCE'),
        )
      }
    },
    tradesTokens,
  ],
]

const steps = 24

/** Both wallets place orders, trade with each other and cancel. */
async function trade(fixture: BookFixture, wallets: readonly string[]): Promise<void> {
  const { place, order, cancel, units, orders } = fixture
  const random = createRandom(20_26)
  for (let step = 0; step < steps; step++) {
    const address = wallets[random(2)] ?? ''
    const mine: Order[] = (await orders({ address, limit: steps })).filter(({ state }) => openStates.includes(state))
    const oldest = mine.at(-1)
    if (oldest && random(4) === 0) {
      await cancel(oldest, { address })
      continue
    }
    const side: Side = random(2) === 0 ? 'BUY' : 'SELL'
    // Steps of half a percent around the fair price: some orders rest, others match.
    const part = 1 + (random(5) - 2) / 200
    const wouldMatchItself = mine.some((each) => each.side !== side)
    // Exchanges differ in what they do with a wallet that trades with itself.
    if (wouldMatchItself) for (const each of mine.filter((each) => each.side !== side)) await cancel(each, { address })
    await place(order(side, part, { address, amount: units(1 + random(3)) }))
  }
}

const tradeIds = async ({ trades }: BookFixture, wallets: readonly string[]): Promise<ReadonlySet<string>> => {
  const ids: string[] = []
  for (const address of wallets) ids.push(...(await trades({ address })).map(({ tradeId }) => `${address} ${tradeId}`))
  return new Set(ids)
}

const feesIn = (trades: readonly Trade[], symbol: string) =>
  trades.reduce((sum, { fee, feeToken }) => sum + (feeToken === symbol ? exact(fee) : 0n), 0n)

const movedBy = (trades: readonly Trade[], token: 'base' | 'quote') =>
  trades.reduce((sum, { side, price, amount }) => {
    const part = token === 'base' ? exact(amount) : times(exact(amount), exact(price))
    return (side === 'BUY') === (token === 'base') ? sum + part : sum - part
  }, 0n)
