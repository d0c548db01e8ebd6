import type { BookOperator, BookOperators, MarginBookOperator, PerpBookOperator } from '../../core/testing/book-operators.ts'
import { fromUnits, most } from './exchange/amounts/decimals.ts'
import { fromPrice, fromRate, fromSize, fromUsd, toRate } from './exchange/amounts/units.ts'
import { accountOf, bookOf, stateOf } from './exchange/engine.ts'
import { positionOf } from './exchange/info/accounts.ts'
import { balanceOf, loansOf, type Account } from './exchange/ledger/account.ts'
import type { Market } from './exchange/listing/listing.ts'
import { portfolioOf, ratioDecimals } from './exchange/lending/portfolio.ts'
import { wholeSummary, withdrawableUsd } from './exchange/margin/perp-account.ts'
import type { HyperliquidExchange } from './exchange/start-exchange.ts'

const other = '0x0000000000000000000000000000000000000a11'
const hourMs = 3_600_000

/** As people write numbers: without a point where there is nothing after it. */
const plain = (decimal: string) => decimal.replace(/\.0$/, '')

/** What only the exchange and others can do, for the cards of order books, on a simulator of Hyperliquid. */
export function operatorsOf(exchange: HyperliquidExchange): BookOperators {
  const { engine } = exchange
  const marketOf = (name: string, kind: Market['kind']): Market => {
    const markets: readonly Market[] = kind === 'spot' ? engine.listing.spot : engine.listing.perps
    const found = markets.find((market) => nameOf(market) === name.toUpperCase())
    if (!found) throw new Error(`the simulator has no ${kind} market ${name}`)
    return found
  }

  const bookOperator = (kind: Market['kind'], funds: BookOperator['funds']): BookOperator => ({
    book: async (name) => {
      const { bids, asks } = bookOf(engine, marketOf(name, kind))
      const levels = (side: typeof bids) =>
        side.map(({ px, orders }) => ({
          price: plain(fromPrice(px)),
          quantity: plain(fromSize(orders.reduce((sum, { sz }) => sum + sz, 0n))),
        }))
      return { buys: levels(bids), sells: levels(asks) }
    },
    clear: async (name, wallets) => exchange.clear(marketOf(name, kind).coin, wallets),
    place: async (name, { side, price, amount }) => {
      const { oid, isOpen } = exchange.place(other, { coin: marketOf(name, kind).coin, side, price, size: amount })
      return isOpen ? { orderId: String(oid) } : {}
    },
    cancel: async (_, orderId) => exchange.cancel(other, Number(orderId)),
    open: async (name, owner) => {
      const { coin } = marketOf(name, kind)
      return [...accountOf(engine, owner).open.values()]
        .filter(({ market }) => market.coin === coin)
        .map(({ oid, isBuy, limitPx, origSz, sz }) => ({
          orderId: String(oid),
          side: isBuy ? ('BUY' as const) : ('SELL' as const),
          price: plain(fromPrice(limitPx)),
          amount: plain(fromSize(origSz)),
          filledAmount: plain(fromSize(origSz - sz)),
        }))
    },
    funds,
    setStatus: async (name, status) => exchange.setHalted(marketOf(name, kind).coin, status !== 'open'),
  })

  const tokenOf = (symbol: string) => {
    const token = engine.listing.tokens.find(({ name }) => name === symbol.toUpperCase())
    if (!token) throw new Error(`the simulator has no token ${symbol}`)
    return token
  }
  const spotFunds: BookOperator['funds'] = async (owner, symbol) => {
    const token = tokenOf(symbol)
    const { total, hold } = balanceOf(accountOf(engine, owner), token.index)
    const show = (wei: bigint) => plain(fromUnits(wei, token.weiDecimals))
    return { free: show(total - hold), locked: show(hold) }
  }
  /** Everything in dollars there, whatever it is called. */
  const perpFunds: BookOperator['funds'] = async (owner) => {
    const account = accountOf(engine, owner)
    const settled = [...account.positions.values()].reduce(
      (sum, { isolatedUsd = 0n, entryNtl, szi }) => sum + isolatedUsd + (szi < 0n ? -entryNtl : entryNtl),
      account.crossUsd,
    )
    const free = withdrawableUsd(engine, account)
    return { free: plain(fromUsd(free)), locked: plain(fromUsd(settled - free)) }
  }

  const margin: MarginBookOperator = {
    ...bookOperator('spot', spotFunds),
    enable: async (owner) => exchange.setMode(owner, 'portfolioMargin'),
    views: async (owner) => marginViews(exchange, accountOf(engine, owner)),
    owed: async (owner, symbol) => {
      const token = tokenOf(symbol)
      return plain(fromUnits(loansOf(accountOf(engine, owner), token.index).borrowed, token.weiDecimals))
    },
    pass: async (seconds) => exchange.clock.advance(seconds * 1000),
  }
  const perp: PerpBookOperator = {
    ...bookOperator('perp', perpFunds),
    views: async (name, owner) => perpViews(exchange, accountOf(engine, owner), marketOf(name, 'perp').coin),
    moveIndex: async (name, price) => exchange.setOracle(marketOf(name, 'perp').coin, price),
    fund: async (name, rate) => {
      const { coin } = marketOf(name, 'perp')
      exchange.setFunding(coin, fromRate(toRate(rate)))
      const now = exchange.clock.now()
      exchange.clock.advance((Math.floor(now / hourMs) + 1) * hourMs - now)
      exchange.setFunding(coin, '0')
      return { price: plain(fromPrice(stateOf(engine, marketOf(name, 'perp')).oraclePx)) }
    },
  }
  return { CLOB: bookOperator('spot', spotFunds), MARGIN_CLOB: margin, PERP_CLOB: perp }
}

const nameOf = (market: Market) => (market.kind === 'spot' ? `${market.base.name}-${market.quote.name}` : `${market.coin}-USD`)

function marginViews({ engine }: HyperliquidExchange, account: Account): Awaited<ReturnType<MarginBookOperator['views']>> {
  const { equityUsd, borrowedUsd, liquidationValueUsd, requirementUsd, ratio } = portfolioOf(engine, account)
  const { used, maintenance } = wholeSummary(engine, account)
  const show = (usd: bigint) => plain(fromUsd(usd))
  return {
    equity: show(equityUsd),
    collateral: show(equityUsd + borrowedUsd),
    borrowed: show(borrowedUsd),
    freeCollateral: show(most(0n, liquidationValueUsd - requirementUsd)),
    initialMargin: show(used),
    maintenanceMargin: show(maintenance),
    marginRatio: plain(fromUnits(ratio, ratioDecimals)),
  }
}

function perpViews({ engine }: HyperliquidExchange, account: Account, coin: string): Awaited<ReturnType<PerpBookOperator['views']>> {
  const { value, used, maintenance } = wholeSummary(engine, account)
  const show = (usd: bigint) => plain(fromUsd(usd))
  const position = account.positions.get(coin)
  const shown = position && positionOf(engine, account, position)
  return {
    size: plain(shown?.szi ?? '0'),
    entryPrice: plain(shown?.entryPx ?? '0'),
    markPrice: plain(fromPrice(engine.states.get(coin)!.markPx)),
    unrealizedProfit: plain(shown?.unrealizedPnl ?? '0'),
    ...(shown?.liquidationPx ? { liquidationPrice: plain(shown.liquidationPx) } : {}),
    accountValue: show(value),
    freeCollateral: show(withdrawableUsd(engine, account)),
    initialMargin: show(used),
    maintenanceMargin: show(maintenance),
  }
}

/** Orders of others on every market, and money for some wallets: in spot, for perpetuals, and to be borrowed. */
export function furnish(exchange: HyperliquidExchange, wallets: readonly string[]) {
  for (const { coin, price, size } of depth) {
    exchange.place(other, { coin, side: 'BUY', price: price[0], size })
    exchange.place(other, { coin, side: 'SELL', price: price[1], size })
  }
  exchange.lend('USDC', '500000')
  for (const wallet of wallets) {
    for (const [token, amount] of [
      ['USDC', '100000'],
      ['PURR', '500000'],
      ['HYPE', '5000'],
      ['UBTC', '1'],
    ] as const)
      exchange.credit(wallet, token, amount)
    exchange.deposit(wallet, '100000')
  }
}

const depth = [
  { coin: 'PURR/USDC', price: ['0.198', '0.202'], size: '50000' },
  { coin: '@107', price: ['39.6', '40.4'], size: '250' },
  { coin: '@142', price: ['99000', '101000'], size: '0.1' },
  { coin: 'BTC', price: ['99000', '101000'], size: '0.1' },
  { coin: 'ETH', price: ['3960', '4040'], size: '2.5' },
  { coin: 'HYPE', price: ['39.6', '40.4'], size: '250' },
  { coin: 'PURR', price: ['0.198', '0.202'], size: '50000' },
] as const
