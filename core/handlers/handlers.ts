import type { BookSet, EndpointName } from '../api/index.ts'
import { altchainCreateToken } from './altchain.ts'
import { ammEstimateGas, ammPrice } from './amm/price.ts'
import { ammLiquidityAdd, ammLiquidityCollectFees, ammLiquidityRemove } from './amm/range-changes.ts'
import { ammLiquidityPrice } from './amm/range-pools.ts'
import { ammLiquidityPosition, ammLiquidityPositions } from './amm/range-positions.ts'
import { ammTrade } from './amm/trade.ts'
import { clobBalances, clobFundingPayments, clobMarginAccount, clobPerpAccount, clobPositions } from './clob/accounts.ts'
import { clobBatchOrders } from './clob/batch-orders.ts'
import { clobDeposit, clobLeverage, clobMove } from './clob/funds.ts'
import { clobListOrders } from './clob/list-orders.ts'
import {
  clobEstimateGas,
  clobFundingInfo,
  clobLastTradePrice,
  clobMarkets,
  clobOrderBook,
  clobTicker,
  clobTrades,
} from './clob/market-data.ts'
import { clobCancelOrder, clobPlaceOrder } from './clob/orders.ts'
import type { Handlers } from './context.ts'
import { evmAllowances, evmApprove, evmCancel, evmNonce, evmSpeedUp } from './evm.ts'
import { networkBalances, networkChainConfig, networkStatus, networkTokens } from './network.ts'
import { perpBalance, perpFunding, perpMargin, perpMove, perpPosition } from './perp/account.ts'
import { perpEstimateGas, perpMarketPrices, perpMarketStatus, perpPairs } from './perp/markets.ts'
import { perpClose, perpOpen, perpPrice } from './perp/trade.ts'
import { networkPoll } from './poll.ts'
import { serviceHandlers } from './service.ts'

type Prefixed<Prefix extends string, V> = { [K in keyof V & string as `${Prefix}${K}`]: V[K] }

/** Handlers under the names of their endpoints. */
const withPrefix = <const Prefix extends string, V extends object>(prefix: Prefix, handlersOf: V) =>
  Object.fromEntries(Object.entries(handlersOf).map(([name, handler]) => [`${prefix}${name}`, handler])) as Prefixed<Prefix, V>

/** The endpoints of perpetual AMMs, which have two prefixes. */
const perpAMM = {
  Price: perpPrice,
  Position: perpPosition,
  Margin: perpMargin,
  Funding: perpFunding,
  Open: perpOpen,
  Close: perpClose,
  MarketPrices: perpMarketPrices,
  MarketStatus: perpMarketStatus,
  Pairs: perpPairs,
  Balance: perpBalance,
  EstimateGas: perpEstimateGas,
  Deposit: perpMove('deposit'),
  Withdraw: perpMove('withdraw'),
}

/** The endpoints that every kind of order book has. */
const clob = (type: BookSet) => ({
  Markets: clobMarkets(type),
  Ticker: clobTicker(type),
  OrderBook: clobOrderBook(type),
  Orders: clobListOrders(type),
  OrdersPost: clobPlaceOrder(type),
  OrdersDelete: clobCancelOrder(type),
  BatchOrders: clobBatchOrders(type),
  Trades: clobTrades(type),
  Balances: clobBalances(type),
  Deposit: clobDeposit(type),
  Withdraw: clobMove(type, 'withdraw'),
  EstimateGas: clobEstimateGas(type),
})

const clobMargin = {
  ...clob('MARGIN_CLOB'),
  Account: clobMarginAccount,
  Borrow: clobMove('MARGIN_CLOB', 'borrow'),
  Repay: clobMove('MARGIN_CLOB', 'repay'),
}

const clobPerp = {
  ...clob('PERP_CLOB'),
  Positions: clobPositions,
  Account: clobPerpAccount,
  Leverage: clobLeverage,
  FundingInfo: clobFundingInfo,
  FundingPayments: clobFundingPayments,
  LastTradePrice: clobLastTradePrice,
}

type ClobHandlers = Pick<Handlers, Extract<EndpointName, `CLOB${string}`>>
const clobHandlers: ClobHandlers = {
  ...withPrefix('CLOB', clob('CLOB')),
  ...withPrefix('CLOBMargin', clobMargin),
  ...withPrefix('CLOBPerp', clobPerp),
}

/** The handler of each endpoint. A missing one does not compile. */
export const handlers: Handlers = {
  ...serviceHandlers,
  ...clobHandlers,
  ...withPrefix('PerpAMM', perpAMM),
  ...withPrefix('Perp', perpAMM),
  NetworkStatus: networkStatus,
  NetworkChainConfig: networkChainConfig,
  NetworkTokens: networkTokens,
  NetworkBalances: networkBalances,
  NetworkPoll: networkPoll,
  EVMAllowances: evmAllowances,
  EVMNonce: evmNonce,
  EVMCancel: evmCancel,
  EVMSpeedUp: evmSpeedUp,
  EVMApprove: evmApprove,
  AltchainCreateToken: altchainCreateToken,
  AMMPrice: ammPrice,
  AMMTrade: ammTrade,
  AMMEstimateGas: ammEstimateGas,
  AMMLiquidityAdd: ammLiquidityAdd,
  AMMLiquidityRemove: ammLiquidityRemove,
  AMMLiquidityCollectFees: ammLiquidityCollectFees,
  AMMLiquidityPrice: ammLiquidityPrice,
  AMMLiquidityPosition: ammLiquidityPosition,
  AMMLiquidityPositions: ammLiquidityPositions,
}
