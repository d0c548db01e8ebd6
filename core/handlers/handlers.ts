import type { BookSet, EndpointName } from '../api/index.ts'
import type { Verbs } from './context.ts'
import { balances } from './clob/accounts.ts'
import { deposit } from './clob/funds.ts'
import { fundingPayments } from '../verbs/clob/account/funding-payments.ts'
import { leverage } from '../verbs/clob/account/leverage.ts'
import { marginAccount } from '../verbs/clob/account/margin-account.ts'
import { move } from '../verbs/clob/account/move.ts'
import { perpAccount } from '../verbs/clob/account/perp-account.ts'
import { positions } from '../verbs/clob/account/positions.ts'
import { estimateGas } from '../verbs/clob/market/estimate-gas.ts'
import { fundingInfo } from '../verbs/clob/market/funding-info.ts'
import { lastTradePrice } from '../verbs/clob/market/last-trade-price.ts'
import { markets } from '../verbs/clob/market/markets.ts'
import { orderBook } from '../verbs/clob/market/order-book.ts'
import { ticker } from './clob/market-data.ts'
import { trades } from '../verbs/clob/market/trades.ts'
import { batchOrders } from './clob/batch-orders.ts'
import { cancelOrder } from './clob/orders.ts'
import { listOrders } from './clob/list-orders.ts'
import { placeOrder } from '../verbs/clob/orders/place.ts'

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

const margin = {
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

export const bookVerbs: Pick<Verbs, Extract<EndpointName, `CLOB${string}`>> = {
  ...named('CLOB', ofEvery('CLOB')),
  ...named('CLOBMargin', margin),
  ...named('CLOBPerp', perp),
}
