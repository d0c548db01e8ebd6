import { HttpTransport, InfoClient } from '@nktkas/hyperliquid'
import type { BookOperator, BookOperators } from '../../../core/contracts/devnet.ts'
import { fromUnits, fromUsd } from '../../../tools/hyperliquid-simulator/exchange/amounts.ts'
import { accountOf } from '../../../tools/hyperliquid-simulator/exchange/engine.ts'
import { loansOf } from '../../../tools/hyperliquid-simulator/exchange/account.ts'
import { supply } from '../../../tools/hyperliquid-simulator/exchange/margin/loans.ts'
import { portfolioOf, ratioDecimals } from '../../../tools/hyperliquid-simulator/exchange/margin/portfolio.ts'
import type { HyperliquidExchange } from '../../../tools/hyperliquid-simulator/exchange/start-exchange.ts'

const stranger = '0x5742a90000000000000000000000000000000000'
const hourMs = 3_600_000
const coins: Readonly<Record<string, string>> = { 'HYPE-USDC': '@107', 'PURR-USDC': 'PURR/USDC', 'UBTC-USDC': '@142' }

/** The other traders on the simulated exchange, and the exchange's own figures, by its official client library. */
export function operatorsOf(exchange: HyperliquidExchange, wallets: readonly string[]): Required<BookOperators> & { fund(): void } {
  const info = new InfoClient({ transport: new HttpTransport({ apiUrl: exchange.apiUrl, isTestnet: exchange.testnet }) })
  const coinOf = (market: string) => coins[market] ?? market.replace(/-USD$/, '')
  const userOf = (address: string) => address.toLowerCase() as `0x${string}`
  const level = ({ px, sz }: { px: string; sz: string }) => ({ price: px, quantity: sz })

  /** One wallet is tested in both modes. Each type of book starts in its own mode. */
  const setModes = (mode: 'portfolioMargin' | 'disabled') => {
    for (const address of wallets) {
      const account = accountOf(exchange.engine, userOf(address))
      const isIn = (account.mode === 'portfolioMargin') === (mode === 'portfolioMargin')
      // Orders that the cards of another type left.
      if (!isIn) for (const oid of account.open.keys()) exchange.cancel(account.address, oid)
      if (!isIn) exchange.setMode(account.address, mode)
      // With portfolio margin there is one balance. What was in the perpetual account stays in it.
      if (mode === 'disabled' && account.crossUsd === 0n) exchange.deposit(account.address, '50000')
      const reserve = exchange.engine.reserves.get(0)
      if (mode === 'portfolioMargin' && reserve && loansOf(account, 0).supplied === 0n) supply(account, reserve, 10_000n * 10n ** 8n)
    }
  }

  const shared = (mode: 'portfolioMargin' | 'disabled'): Omit<BookOperator, 'funds'> => ({
    async book(market) {
      const book = await info.l2Book({ coin: coinOf(market) })
      const [buys, sells] = book?.levels ?? [[], []]
      return { buys: buys.map(level), sells: sells.map(level) }
    },
    async clear(market, kept) {
      exchange.clear(coinOf(market), kept)
      setModes(mode)
    },
    async place(market, { side, price, amount }) {
      const { oid, isOpen } = exchange.place(stranger, { coin: coinOf(market), side, price, size: amount })
      return isOpen ? { orderId: String(oid) } : {}
    },
    async cancel(_, orderId) {
      exchange.cancel(stranger, Number(orderId))
    },
    async open(market, owner) {
      const orders = await info.openOrders({ user: userOf(owner) })
      return orders
        .filter(({ coin }) => coin === coinOf(market))
        .toSorted((a, b) => a.oid - b.oid)
        .map(({ oid, side, limitPx, origSz, sz }) => ({
          orderId: String(oid),
          side: side === 'B' ? 'BUY' : 'SELL',
          price: limitPx,
          amount: origSz,
          filledAmount: String(Number((Number(origSz) - Number(sz)).toFixed(8))),
        }))
    },
  })

  const spotFunds: BookOperator['funds'] = async (owner, symbol) => {
    const account = accountOf(exchange.engine, userOf(owner))
    const token = exchange.engine.listing.tokens.find(({ name }) => name === symbol)
    if (!token) throw new Error(`there is no token ${symbol}`)
    const { total, hold } = account.spot.get(token.index) ?? { total: 0n, hold: 0n }
    const { supplied } = account.loans.get(token.index) ?? { supplied: 0n }
    return { free: fromUnits(total + supplied - hold, token.weiDecimals), locked: fromUnits(hold, token.weiDecimals) }
  }

  return {
    CLOB: { ...shared('disabled'), funds: spotFunds },
    MARGIN_CLOB: {
      ...shared('portfolioMargin'),
      funds: spotFunds,
      async views(owner) {
        const account = accountOf(exchange.engine, userOf(owner))
        const { equityUsd, collateralUsd, borrowedUsd, ratio } = portfolioOf(exchange.engine, account)
        const spot: unknown = await info.spotClearinghouseState({ user: userOf(owner) })
        const free = new Map(Object(spot).tokenToAvailableAfterMaintenance).get(0)
        const perps = await info.clearinghouseState({ user: userOf(owner) })
        return {
          equity: fromUsd(equityUsd),
          collateral: fromUsd(collateralUsd),
          borrowed: fromUsd(borrowedUsd),
          freeCollateral: String(free),
          initialMargin: perps.marginSummary.totalMarginUsed,
          maintenanceMargin: perps.crossMaintenanceMarginUsed,
          marginRatio: fromUnits(ratio, ratioDecimals),
        }
      },
      async owed(owner, symbol) {
        const token = exchange.engine.listing.tokens.find(({ name }) => name === symbol)
        const { tokenToState } = await info.borrowLendUserState({ user: userOf(owner) })
        return new Map(tokenToState).get(token?.index ?? -1)?.borrow.value ?? '0'
      },
      async pass(seconds) {
        exchange.clock.advance(seconds * 1000)
      },
    },
    PERP_CLOB: {
      ...shared('disabled'),
      async funds(owner, symbol) {
        if (symbol !== 'USDC' && symbol !== 'USD') return { free: '0', locked: '0' }
        const { marginSummary, withdrawable } = await info.clearinghouseState({ user: userOf(owner) })
        const locked = Number(marginSummary.accountValue) - Number(withdrawable)
        return { free: withdrawable, locked: String(Number(locked.toFixed(6))) }
      },
      async views(market, owner) {
        const { assetPositions, marginSummary, crossMaintenanceMarginUsed, withdrawable } = await info.clearinghouseState({
          user: userOf(owner),
        })
        const position = assetPositions.map((each) => each.position).find(({ coin }) => coin === coinOf(market))
        const [{ universe }, contexts] = await info.metaAndAssetCtxs()
        return {
          size: position?.szi ?? '0',
          entryPrice: position?.entryPx ?? '0',
          markPrice: contexts[universe.findIndex(({ name }) => name === coinOf(market))]?.markPx ?? '0',
          unrealizedProfit: position?.unrealizedPnl ?? '0',
          ...(position?.liquidationPx && { liquidationPrice: position.liquidationPx }),
          accountValue: marginSummary.accountValue,
          freeCollateral: withdrawable,
          initialMargin: marginSummary.totalMarginUsed,
          maintenanceMargin: crossMaintenanceMarginUsed,
        }
      },
      async moveIndex(market, price) {
        exchange.setOracle(coinOf(market), price)
      },
      async fund(market, rate) {
        exchange.setFunding(coinOf(market), rate)
        exchange.clock.advance(hourMs - (exchange.clock.now() % hourMs) + 1)
        const [{ universe }, contexts] = await info.metaAndAssetCtxs()
        return { price: contexts[universe.findIndex(({ name }) => name === coinOf(market))]?.oraclePx ?? '0' }
      },
    },
    fund() {
      // So much that lending it out earns nothing.
      exchange.lend('USDC', '1000000000000')
      for (const address of wallets) {
        exchange.credit(userOf(address), 'USDC', '50000')
        exchange.credit(userOf(address), 'HYPE', '1000')
        exchange.credit(userOf(address), 'UBTC', '1')
        exchange.deposit(userOf(address), '50000')
      }
      for (const [coin, buy, sell] of [
        ['@107', '39.5', '40.5'],
        ['@142', '99000', '101000'],
        ['ETH', '3960', '4040'],
      ] as const) {
        exchange.place(stranger, { coin, side: 'BUY', price: buy, size: '1' })
        exchange.place(stranger, { coin, side: 'SELL', price: sell, size: '1' })
      }
    },
  }
}
