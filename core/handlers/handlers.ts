import type { BookSet, EndpointName } from '../api/index.ts'
import { alertHandlers } from './alerts.ts'
import { approvalHandlers } from './approvals.ts'
import { altchainCreateToken } from './altchain.ts'
import { booksVerifyHandlers } from './books-verify.ts'
import { poolHandlers } from './amm/pools.ts'
import { priceHandlers } from './amm/price.ts'
import { tradeHandlers } from './amm/trade.ts'
import { rangeChangeHandlers } from './amm/range-changes.ts'
import { ammLiquidityPrice } from './amm/range-pools.ts'
import { ammLiquidityQuote } from './amm/range-quotes.ts'
import { rangePositionHandlers } from './amm/range-positions.ts'
import { sharesHandlers } from './amm/shares.ts'
import { accountHandlers, marginAccountHandlers, perpBookAccountHandlers } from './clob/accounts.ts'
import { clobBatchOrders } from './clob/batch-orders.ts'
import { fundsHandlers, marginFundsHandlers, perpFundsHandlers } from './clob/funds.ts'
import { clobListOrders } from './clob/list-orders.ts'
import { marketDataHandlers, perpMarketDataHandlers } from './clob/market-data.ts'
import { orderHandlers } from './clob/orders.ts'
import type { Handlers } from './context.ts'
import { evmHandlers } from './evm.ts'
import { revokeHandlers } from './revoke.ts'
import { allowanceHandlers } from './portfolio/allowances.ts'
import { portfolioHandlers } from './portfolio/portfolio.ts'
import { tokenHandlers } from './tokens.ts'
import { transferHandlers } from './transfers.ts'
import { networkHandlers } from './network.ts'
import { perpAccountHandlers } from './perp/account.ts'
import { perpMarketHandlers } from './perp/markets.ts'
import { perpTradeHandlers } from './perp/trade.ts'
import { networkPoll } from './poll.ts'
import { bookHandlers } from './books.ts'
import { ledgerHandlers } from './ledger.ts'
import { serviceHandlers } from './service.ts'
import { limitHandlers } from './limits.ts'
import { stopHandlers } from './stops.ts'
import { transactionHandlers } from './transactions.ts'

type WithPrefix<Prefix extends string, V> = { [K in keyof V & string as `${Prefix}${K}`]: V[K] }

/** Handlers under the names of their endpoints. */
const withPrefix = <const Prefix extends string, V extends object>(prefix: Prefix, handlersOf: V) =>
  Object.fromEntries(Object.entries(handlersOf).map(([name, handler]) => [`${prefix}${name}`, handler])) as WithPrefix<Prefix, V>

/** The endpoints of perpetual AMMs, which have two prefixes. */
const perpAMM = { ...perpMarketHandlers, ...perpAccountHandlers, ...perpTradeHandlers }

/** The endpoints that every kind of order book has. */
const clob = (type: BookSet) => ({
  ...marketDataHandlers(type),
  ...accountHandlers(type),
  ...fundsHandlers(type),
  ...orderHandlers(type),
  Orders: clobListOrders(type),
  BatchOrders: clobBatchOrders(type),
})
const clobMargin = { ...clob('MARGIN_CLOB'), ...marginAccountHandlers, ...marginFundsHandlers }
const clobPerp = { ...clob('PERP_CLOB'), ...perpMarketDataHandlers, ...perpBookAccountHandlers, ...perpFundsHandlers }

const clobHandlers: Pick<Handlers, Extract<EndpointName, `CLOB${string}`>> = {
  ...withPrefix('CLOB', clob('CLOB')),
  ...withPrefix('CLOBMargin', clobMargin),
  ...withPrefix('CLOBPerp', clobPerp),
}

/** The handler of each endpoint. A missing one does not compile. */
export const handlers: Handlers = {
  ...serviceHandlers,
  ...transactionHandlers,
  ...bookHandlers,
  ...ledgerHandlers,
  ...limitHandlers,
  ...approvalHandlers,
  ...booksVerifyHandlers,
  ...alertHandlers,
  ...stopHandlers,
  ...networkHandlers,
  ...evmHandlers,
  ...revokeHandlers,
  ...portfolioHandlers,
  ...allowanceHandlers,
  ...transferHandlers,
  ...tokenHandlers,
  ...priceHandlers,
  ...poolHandlers,
  ...tradeHandlers,
  ...rangePositionHandlers,
  ...rangeChangeHandlers,
  ...sharesHandlers,
  ...withPrefix('PerpAMM', perpAMM),
  ...withPrefix('Perp', perpAMM),
  ...clobHandlers,
  NetworkPoll: networkPoll,
  AltchainCreateToken: altchainCreateToken,
  AMMLiquidityPrice: ammLiquidityPrice,
  AMMLiquidityQuote: ammLiquidityQuote,
}
