import { toUnits, fromUsd, toPrice, toRate, toUsd } from './amounts.ts'
import type { Tif } from './book.ts'
import { accountOf, bookOf, stateOf, noteUpdate, type Engine } from './engine.ts'
import { balanceOf, type Mode } from './account.ts'
import { supply, setMode } from './margin/loans.ts'
import { liquidate } from './margin/liquidate.ts'
import { endOrder } from './matching/match.ts'
import { placeOrder } from './matching/place-order.ts'
import { readOrder } from './matching/check-order.ts'
import { catchUp } from './time.ts'

export interface DirectOrder {
  coin: string
  side: 'BUY' | 'SELL'
  price: string
  size: string
  tif?: Tif
  reduceOnly?: boolean
}

/** What a test does with the exchange that nobody can ask it for. Amounts and prices are decimals. */
export interface Driver {
  readonly engine: Engine
  readonly clock: { now(): number; advance(milliseconds: number): void }
  /** Into the spot balance of a wallet, out of nothing. */
  credit(user: string, token: string, amount: string): void
  /** USDC for perpetuals, as from the bridge. */
  deposit(user: string, usdc: string): void
  /** Of a perpetual, with its mark price; of a spot market, its last price. Whoever has too little margin then is liquidated. */
  setOracle(coin: string, price: string): void
  setMark(coin: string, price: string): void
  /** Of every full hour to come, until it is set again. */
  setFunding(coin: string, ratePerHour: string): void
  setHalted(coin: string, halted: boolean): void
  setMode(user: string, mode: Mode): void
  /** Somebody lends so much, for others to borrow. */
  lend(token: string, amount: string): void
  /** Another trader's order, with no signature; he is given what it takes. */
  place(user: string, order: DirectOrder): { oid: number; isOpen: boolean }
  cancel(user: string, oid: number): void
  /** Takes away all orders of a market but those of some wallets. */
  clear(coin: string, keep?: readonly string[]): void
  /** Money on its way out of the exchange, and what left. */
  withdrawals(): readonly { user: string; destination: string; usdc: string; left: boolean }[]
}

const lender = '0x1e4de41e4de41e4de41e4de41e4de41e4de41e4d'

export function createDriver(engine: Engine, afterwards: () => void): Driver {
  const marketOf = (coin: string) => {
    const market = engine.listing.byCoin(coin)
    if (!market) throw new Error(`there is no market ${coin}`)
    return market
  }
  const tokenOf = (name: string) => {
    const token = engine.listing.tokens.find((each) => each.name === name)
    if (!token) throw new Error(`there is no token ${name}`)
    return token
  }
  const bring = (token: number, wei: bigint) => engine.supply.set(token, (engine.supply.get(token) ?? 0n) + wei)
  const price = (coin: string, text: string, isOracle: boolean) => {
    const state = stateOf(engine, marketOf(coin))
    if (isOracle) state.oraclePx = toPrice(text)
    state.markPx = toPrice(text)
    engine.outbox.contexts.add(coin)
    liquidate(engine)
    afterwards()
  }
  const credit = (user: string, name: string, amount: string) => {
    const [account, token] = [accountOf(engine, user), tokenOf(name)]
    const wei = toUnits(amount, token.weiDecimals)
    balanceOf(account, token.index).total += wei
    bring(token.index, wei)
    account.exists = true
    engine.outbox.users.add(account.address)
    afterwards()
  }
  const deposit = (user: string, usdc: string) => {
    const [account, usd] = [accountOf(engine, user), toUsd(usdc)]
    account.crossUsd += usd
    bring(0, usd * 100n)
    account.exists = true
    noteUpdate(engine, account, { type: 'deposit', usdc: fromUsd(usd) })
    afterwards()
  }

  return {
    engine,
    clock: {
      now: engine.clock.now,
      advance: (milliseconds) => {
        engine.clock.advance(milliseconds)
        catchUp(engine)
        afterwards()
      },
    },
    credit,
    deposit,
    setOracle: (coin, text) => price(coin, text, true),
    setMark: (coin, text) => price(coin, text, false),
    setFunding: (coin, rate) => {
      stateOf(engine, marketOf(coin)).fundingRate = toRate(rate)
      engine.outbox.contexts.add(coin)
      afterwards()
    },
    setHalted: (coin, halted) => {
      stateOf(engine, marketOf(coin)).halted = halted
    },
    setMode: (user, mode) => {
      const refused = setMode(engine, accountOf(engine, user), mode)
      if (refused) throw new Error(refused)
      afterwards()
    },
    lend: (name, amount) => {
      credit(lender, name, amount)
      const reserve = engine.reserves.get(tokenOf(name).index)
      if (!reserve) throw new Error(`${name} is not lent`)
      supply(accountOf(engine, lender), reserve, toUnits(amount, reserve.token.weiDecimals))
    },
    place: (user, { coin, side, price: p, size, tif = 'Gtc', reduceOnly = false }) => {
      catchUp(engine)
      const market = marketOf(coin)
      if (market.kind === 'perp') deposit(user, '1000000')
      else credit(user, side === 'BUY' ? market.quote.name : market.base.name, '1000000')
      const wire = { a: market.asset, b: side === 'BUY', p, s: size, r: reduceOnly, t: { limit: { tif } } }
      const order = readOrder(engine, accountOf(engine, user).address, wire)
      if (typeof order === 'string') throw new Error(`the exchange refused an order: ${order}`)
      const placed = placeOrder(engine, order)
      afterwards()
      if ('error' in placed) throw new Error(`the exchange refused an order: ${placed.error}`)
      return { oid: order.oid, isOpen: order.status === 'open' }
    },
    cancel: (user, oid) => {
      const order = accountOf(engine, user).open.get(oid)
      if (order) endOrder(engine, order, 'canceled')
      afterwards()
    },
    clear: (coin, keep = []) => {
      const kept = new Set(keep.map((address) => address.toLowerCase()))
      const { bids, asks } = bookOf(engine, marketOf(coin))
      for (const order of [...bids, ...asks].flatMap(({ orders }) => orders))
        if (!kept.has(order.owner)) endOrder(engine, order, 'canceled')
      afterwards()
    },
    withdrawals: () => engine.withdrawals.map(({ user, destination, usd, left }) => ({ user, destination, usdc: fromUsd(usd), left })),
  }
}
