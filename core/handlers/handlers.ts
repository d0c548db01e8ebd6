import type { BookSet, EndpointName } from '../api/index.ts'
import { altchainCreateToken } from './altchain.ts'
import { ammEstimateGas, ammPrice } from './amm/price.ts'
import { ammLiquidityAdd, ammLiquidityCollectFees, ammLiquidityRemove } from './amm/range-changes.ts'
import { ammLiquidityPrice } from './amm/range-pools.ts'
import { ammLiquidityPosition, ammLiquidityPositions } from './amm/range-positions.ts'
import { ammTrade } from './amm/trade.ts'
import { balances, fundingPayments, marginAccount, perpAccount, positions } from './clob/accounts.ts'
import { batchOrders } from './clob/batch-orders.ts'
import { deposit, leverage, move } from './clob/funds.ts'
import { listOrders } from './clob/list-orders.ts'
import { estimateGas, fundingInfo, lastTradePrice, markets, orderBook, ticker, trades } from './clob/market-data.ts'
import { cancelOrder, placeOrder } from './clob/orders.ts'
import type { Handlers } from './context.ts'
import { evmAllowances, evmApprove, evmCancel, evmNonce, evmSpeedUp } from './evm.ts'
import { networkBalances, networkChainConfig, networkStatus, networkTokens } from './network.ts'
import { balance, funding, margin, move as moveInIndex, position } from './perp/account.ts'
import { estimateGas as estimateGasInIndex, marketPrices, marketStatus, pairs } from './perp/markets.ts'
import { price, close, open } from './perp/trade.ts'
import { networkPoll } from './poll.ts'
import { connectorConfig, serviceHandlers } from './service.ts'

/** What every kind of order book answers. */
const ofEvery = (type: BookSet) => ({
  Markets: markets(type),
  Ticker: ticker(type),
  OrderBook: orderBook(type),
  Orders: listOrders(type),
  OrdersPost: placeOrder(type),
  OrdersDelete: cancelOrder(type),
  BatchOrders: batchOrders(type),
  Trades: trades(type),
  Balances: balances(type),
  Deposit: deposit(type),
  Withdraw: move(type, 'withdraw'),
  EstimateGas: estimateGas(type),
})

const marginOfHandlers = {
  ...ofEvery('MARGIN_CLOB'),
  Account: marginAccount,
  Borrow: move('MARGIN_CLOB', 'borrow'),
  Repay: move('MARGIN_CLOB', 'repay'),
}

const perp = {
  ...ofEvery('PERP_CLOB'),
  Positions: positions,
  Account: perpAccount,
  Leverage: leverage,
  FundingInfo: fundingInfo,
  FundingPayments: fundingPayments,
  LastTradePrice: lastTradePrice,
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
  PerpAMMPrice: price,
  PerpPrice: price,
  PerpAMMPosition: position,
  PerpPosition: position,
  PerpAMMMargin: margin,
  PerpMargin: margin,
  PerpAMMFunding: funding,
  PerpFunding: funding,
  PerpAMMOpen: open,
  PerpOpen: open,
  PerpAMMClose: close,
  PerpClose: close,
  PerpAMMMarketPrices: marketPrices,
  PerpMarketPrices: marketPrices,
  PerpAMMMarketStatus: marketStatus,
  PerpMarketStatus: marketStatus,
  PerpAMMPairs: pairs,
  PerpPairs: pairs,
  PerpAMMBalance: balance,
  PerpBalance: balance,
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
