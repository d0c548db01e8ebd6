import { expect } from 'chai'
import { expectSame } from '../../../../testkit/cards/books/orders.ts'
import { exact, plain, times } from './exact.ts'
import { open, type Desk, type FundsExact, type Order, type Side, type Trade } from '../../../../testkit/cards/books/fixture.ts'
import { ofTokens } from './of-tokens.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

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
    ofTokens,
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
    ofTokens,
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
    ofTokens,
  ],
]

/** Both wallets place, cross one another and cancel. */
async function trade(desk: Desk, wallets: readonly string[]): Promise<void> {
  const { place, order, cancel, units, orders } = desk
  const roll = dice(20_26)
  for (let step = 0; step < 24; step++) {
    const address = wallets[roll(2)] ?? ''
    const mine: Order[] = (await orders({ address })).filter(({ state }) => open.includes(state))
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

const tradeIds = async ({ trades }: Desk, wallets: readonly string[]): Promise<ReadonlySet<string>> => {
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
