import { expect } from 'chai'
import type { MarginBookOperator } from '../../../core/contracts/devnet.ts'
import type { Card } from '../books.ts'
import {
  type BookFixture,
  type Fields,
  waitFor,
  openStates,
  type FundsExact,
  type Order,
  type Side,
  type Trade,
  tradesTokens,
} from './fixture.ts'
import { exact, plain, times } from './grid.ts'
import { expectSame } from './orders.ts'

type MarginFixture = BookFixture<MarginBookOperator>
type MarginCard = readonly [title: string, run: (desk: MarginFixture) => Promise<void>]

const figures = ['equity', 'collateral', 'borrowed', 'freeCollateral', 'initialMargin', 'maintenanceMargin'] as const

export const marginCards: readonly MarginCard[] = [
  [
    "MARGIN-01 the account's figures and its margin ratio equal the exchange's own, with and without a loan",
    async (desk) => {
      await holdAccount(desk)
      await withLoan(desk, async () => holdAccount(desk))
      await holdAccount(desk)
    },
  ],
  [
    'MARGIN-02 a borrow raises `borrowed` by what was asked for, and a repay with interest brings it to zero',
    async (desk) => {
      const { operator, owner, market, funds } = desk
      const before = await account(desk)
      expectSame(before.tokens[market.quote]?.borrowed ?? '0', '0', 'borrowed before')
      const had = await funds()
      const amount = loanOf(desk)
      await move(desk, 'borrow', amount)
      const borrowed = await account(desk)
      expect(Number(borrowed.borrowed)).to.be.above(Number(before.borrowed))
      expectSame(borrowed.tokens[market.quote]?.borrowed ?? '0', await operator.owed(owner, market.quote), 'borrowed')
      expect((await funds()).quote.free - had.quote.free).to.equal(exact(amount))

      await operator.pass(86_400)
      const owed = await operator.owed(owner, market.quote)
      expect(Number(owed), 'owed with the interest of a day').to.be.above(Number(amount))
      const rate = Number(borrowed.tokens[market.quote]?.borrowRate)
      const interest = (Number(owed) - Number(amount)) / Number(amount)
      expect(interest / (rate / 365), 'the interest of a day by the rate that was told').to.be.within(0.98, 1.02)

      // More than is owed by then: what is too much stays where it is.
      await move(desk, 'repay', roundedUp(owed))
      await waitFor(
        'nothing is owed',
        () => account(desk),
        ({ tokens }) => Number(tokens[market.quote]?.borrowed ?? 0) === 0,
      )
      expectSame(await operator.owed(owner, market.quote), '0', 'owed by the exchange')
      expectSame((await account(desk)).borrowed, before.borrowed, 'borrowed after')
      const lost = had.quote.free - (await funds()).quote.free
      expect(lost >= exact(owed) - exact(amount), `${plain(lost)} was paid in interest`).to.equal(true)
    },
  ],
  [
    'MARGIN-03 what is owed and what may be taken out are told by token, within its cap',
    async (desk) => {
      await withLoan(desk, async () => {
        const { tokens, mode, sharedWith } = await account(desk)
        expect(mode).to.be.a('string')
        expect(sharedWith).to.be.an('array')
        const quote = tokens[desk.market.quote]
        if (!quote) throw new Error(`The account does not tell of ${desk.market.quote}`)
        expect(Number(quote.borrowRate)).to.be.above(0)
        if (quote.borrowCap !== undefined) expect(Number(quote.borrowed)).to.be.at.most(Number(quote.borrowCap))
      })
    },
  ],
  [
    'MARGIN-04 more than is free, than can be borrowed, or than is owed is refused',
    async (desk) => {
      const { market } = desk
      for (const verb of ['deposit', 'withdraw', 'borrow', 'repay']) {
        for (const amount of ['0', '-1', 'one', '1e-40', '1e80']) await refused(desk, verb, { amount }, '400 INCOMPLETE_PARAMS', 'amount')
        await refused(desk, verb, { token: 'NOPE' }, '404 TOKEN_NOT_SUPPORTED')
      }
      await refused(desk, 'repay', { amount: loanOf(desk) }, '422 TRADE_FAILED')
      for (const verb of ['borrow', 'withdraw']) {
        const { body } = await refused(desk, verb, { token: market.quote, amount: '100000000' }, '422 INSUFFICIENT_MARGIN')
        expect(body.details).to.include.all.keys('free', 'needed')
      }
    },
  ],
  [
    'MARGIN-05 what is taken out is in the wallet, to the unit',
    async (desk) => {
      const { funds, market, operator, owner } = desk
      const before = await funds()
      const amount = loanOf(desk)
      const deposited = async () => exact((await account(desk)).tokens[market.quote]?.deposited ?? '0')
      const held = await deposited()
      await move(desk, 'withdraw', amount)
      await waitFor('it is taken out', deposited, (now) => held - now === exact(amount))
      await move(desk, 'deposit', amount)
      await waitFor('it is put back', deposited, (now) => now === held)
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

const account = async ({ answered, read, owner }: MarginFixture): Promise<AccountAnswer> => answered(read('account', { address: owner }))

/** Worth some fifty units, in few digits. */
const loanOf = ({ fair, unit }: MarginFixture) => Math.ceil(fair * Number(unit) * 5).toFixed(0)

async function holdAccount(desk: MarginFixture): Promise<void> {
  const shown = await account(desk)
  const views = await desk.operator.views(desk.owner)
  for (const key of figures) expectSame(shown[key], views[key], key)
  expectSame(shown.marginRatio, views.marginRatio ?? '0', 'margin ratio')
}

/** Waits until the exchange has done it. */
async function move({ act, answered, owner, market }: MarginFixture, verb: string, amount: string): Promise<void> {
  const { state, reason } = await answered(act(verb, { address: owner, token: market.quote, amount }))
  expect(state, `${verb} ${amount}: ${reason}`).to.be.oneOf(['PENDING', 'DONE'])
}

async function withLoan(desk: MarginFixture, during: () => Promise<void>): Promise<void> {
  const { operator, owner, market } = desk
  await move(desk, 'borrow', loanOf(desk))
  await waitFor(
    'it is owed',
    () => operator.owed(owner, market.quote),
    (owed) => Number(owed) > 0,
  )
  try {
    await during()
  } finally {
    await move(desk, 'repay', roundedUp(await operator.owed(owner, market.quote)))
    await waitFor(
      'nothing is owed',
      () => operator.owed(owner, market.quote),
      (owed) => Number(owed) === 0,
    )
  }
}

/** To four decimals, and one of them more: for what grows until it is paid. */
const roundedUp = (owed: string) => (Math.ceil(Number(owed) * 10_000 + 1) / 10_000).toFixed(4)

async function refused({ act, owner, market }: MarginFixture, verb: string, fields: Fields, outcome: string, field?: string) {
  const answer = await act(verb, { address: owner, token: market.quote, amount: '1', ...fields })
  const { status, body, text } = answer
  expect(`${status} ${body?.name}`, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(outcome)
  if (field !== undefined) expect(body.details[0].field, text).to.equal(field)
  return answer
}

/** Numbers that look like chance, and are the same in every run. */
function dice(seed: number): (count: number) => number {
  let state = seed
  return (count) => {
    // Park and Miller's generator.
    state = (state * 48_271) % 2_147_483_647
    return state % count
  }
}

export const moneyCards: readonly Card[] = [
  [
    'BOOK-15 balances are what the exchange says: what is locked by orders, and what is free in it',
    async (desk) => {
      const { place, order, read, answered, owner, funds, market } = desk
      await place(order('BUY', 0.99))
      await place(order('SELL', 1.01))
      const { balances } = await answered(read('balances', { address: owner }))
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
    'BOOK-16 money is conserved to the unit over a sequence of orders, fills and cancellations',
    async (desk) => {
      const { owner, other, trades, market, clear } = desk
      const wallets = [owner, other]
      const all = async () => Promise.all(wallets.map((address) => desk.funds(address)))
      const known = await tradeIds(desk, wallets)
      const before = await all()
      await trade(desk, wallets)
      await clear()
      const after = await all()

      const made: Trade[][] = []
      for (const address of wallets) made.push((await trades({ address })).filter(({ tradeId }) => !known.has(`${address} ${tradeId}`)))
      expect(made.flat(), 'trades').to.not.have.length(0)
      for (const token of ['base', 'quote'] as const) {
        const total = (funds: readonly Record<'base' | 'quote', FundsExact>[]) =>
          funds.reduce((sum, each) => sum + each[token].free + each[token].locked, 0n)
        const fees = feesIn(made.flat(), market[token])
        expect(plain(total(after)), `${token} of both wallets`).to.equal(plain(total(before) - fees))
        // Prices of trades are shown with 18 digits at most.
        for (const [index, mine] of made.entries()) {
          const got = after[index]?.[token] ?? { free: 0n, locked: 0n }
          const had = before[index]?.[token] ?? { free: 0n, locked: 0n }
          const moved = got.free + got.locked - had.free - had.locked
          const told = movedBy(mine, token) - feesIn(mine, market[token])
          const off = moved > told ? moved - told : told - moved
          const turnover = mine.reduce((sum, { price, amount }) => sum + times(exact(amount), exact(price)), 0n)
          const slack = token === 'base' ? 0n : turnover / 10n ** 15n
          expect(off <= slack, `${token} of wallet ${index}: ${plain(moved)} by what it has, ${plain(told)} by its trades`).to.equal(true)
        }
      }
    },
    tradesTokens,
  ],
  [
    'BOOK-17 what a wallet does not have is refused, with what it would need',
    async ({ order, refused, funds, operator, market, owner, fair }) => {
      const { base, quote } = await funds()
      const tooMuch = { BUY: Math.ceil((Number(plain(quote.free)) / fair) * 1.2), SELL: Math.ceil(Number(plain(base.free)) * 1.1) }
      for (const side of ['BUY', 'SELL'] as const) {
        const amount = String(tooMuch[side] + 1)
        const { body } = await refused(order(side, side === 'BUY' ? 0.99 : 1.01, { amount }), '422 INSUFFICIENT_BALANCE')
        expect(body.details).to.include.all.keys('token', 'current', 'needed')
        expect(body.details.token).to.equal(side === 'BUY' ? market.quote : market.base)
        expectSame(body.details.current, (await operator.funds(owner, body.details.token)).free, 'current')
        expect(Number(body.details.needed)).to.be.above(Number(body.details.current))
      }
    },
    tradesTokens,
  ],
]

/** Both wallets place, cross one another and cancel. */
async function trade(desk: BookFixture, wallets: readonly string[]): Promise<void> {
  const { place, order, cancel, units, orders } = desk
  const roll = dice(20_26)
  for (let step = 0; step < 24; step++) {
    const address = wallets[roll(2)] ?? ''
    const mine: Order[] = (await orders({ address })).filter(({ state }) => openStates.includes(state))
    const oldest = mine.at(-1)
    if (oldest && roll(4) === 0) {
      await cancel(oldest, { address })
      continue
    }
    const side: Side = roll(2) === 0 ? 'BUY' : 'SELL'
    // Steps of half a percent around the fair price: some rest, some meet what the other wallet, or their own, has there.
    const part = 1 + (roll(5) - 2) / 200
    const clash = mine.some((each) => each.side !== side)
    // What an exchange does with a wallet that meets itself is its own affair.
    if (clash) for (const each of mine.filter((each) => each.side !== side)) await cancel(each, { address })
    await place(order(side, part, { address, amount: units(1 + roll(3)) }))
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
