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
import { perpBalance, perpFunding, perpMargin, perpMove as moveInIndex, perpPosition } from './perp/account.ts'
import { perpEstimateGas as estimateGasInIndex, perpMarketPrices, perpMarketStatus, perpPairs } from './perp/markets.ts'
import { perpPrice, perpClose, perpOpen } from './perp/trade.ts'
import { networkPoll } from './poll.ts'
import { connectorConfig, serviceHandlers } from './service.ts'

/** What every kind of order book answers. */
const ofEvery = (type: BookSet) => ({
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

const marginOfHandlers = {
  ...ofEvery('MARGIN_CLOB'),
  Account: clobMarginAccount,
  Borrow: clobMove('MARGIN_CLOB', 'borrow'),
  Repay: clobMove('MARGIN_CLOB', 'repay'),
}

const perp = {
  ...ofEvery('PERP_CLOB'),
  Positions: clobPositions,
  Account: clobPerpAccount,
  Leverage: clobLeverage,
  FundingInfo: clobFundingInfo,
  FundingPayments: clobFundingPayments,
  LastTradePrice: clobLastTradePrice,
}

type Named<Prefix extends string, V> = { [K in keyof V & string as `${Prefix}${K}`]: V[K] }

/** Under the names of their endpoints. */
const named = <const Prefix extends string, V extends object>(prefix: Prefix, verbs: V) =>
  Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [`${prefix}${name}`, verb])) as Named<Prefix, V>

const clobHandlers: Pick<Handlers, Extract<EndpointName, `CLOB${string}`>> = {
  ...named('CLOB', ofEvery('CLOB')),
  ...named('CLOBMargin', marginOfHandlers),
  ...named('CLOBPerp', perp),
}

type PerpVerbs = Pick<Handlers, Extract<keyof Handlers, `Perp${string}`>>

const [depositOfIndex, withdraw] = [moveInIndex('deposit'), moveInIndex('withdraw')]

/** Both prefixes answer every verb. */
const perpHandlers: PerpVerbs = {
  PerpAMMPrice: perpPrice,
  PerpPrice: perpPrice,
  PerpAMMPosition: perpPosition,
  PerpPosition: perpPosition,
  PerpAMMMargin: perpMargin,
  PerpMargin: perpMargin,
  PerpAMMFunding: perpFunding,
  PerpFunding: perpFunding,
  PerpAMMOpen: perpOpen,
  PerpOpen: perpOpen,
  PerpAMMClose: perpClose,
  PerpClose: perpClose,
  PerpAMMMarketPrices: perpMarketPrices,
  PerpMarketPrices: perpMarketPrices,
  PerpAMMMarketStatus: perpMarketStatus,
  PerpMarketStatus: perpMarketStatus,
  PerpAMMPairs: perpPairs,
  PerpPairs: perpPairs,
  PerpAMMBalance: perpBalance,
  PerpBalance: perpBalance,
  PerpAMMEstimateGas: estimateGasInIndex,
  PerpEstimateGas: estimateGasInIndex,
  PerpAMMDeposit: depositOfIndex,
  PerpDeposit: depositOfIndex,
  PerpAMMWithdraw: withdraw,
  PerpWithdraw: withdraw,
}

/** The function behind each endpoint. One that is missing does not compile. */
export const handlers: Handlers = {
  ...serviceHandlers,
  ...perpHandlers,
  ...clobHandlers,
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
  ConnectorConfig: connectorConfig,
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
