import type { BookSet, EndpointName } from '../../api/index.ts'
import type { Verbs } from '../context.ts'
import { balances } from './account/balances.ts'
import { deposit } from './account/deposit.ts'
import { fundingPayments } from './account/funding-payments.ts'
import { leverage } from './account/leverage.ts'
import { marginAccount } from './account/margin-account.ts'
import { move } from './account/move.ts'
import { perpAccount } from './account/perp-account.ts'
import { positions } from './account/positions.ts'
import { estimateGas } from './market/estimate-gas.ts'
import { fundingInfo } from './market/funding-info.ts'
import { lastTradePrice } from './market/last-trade-price.ts'
import { markets } from './market/markets.ts'
import { orderBook } from './market/order-book.ts'
import { ticker } from './market/ticker.ts'
import { trades } from './market/trades.ts'
import { batchOrders } from './orders/batch.ts'
import { cancelOrder } from './orders/cancel.ts'
import { listOrders } from './orders/list.ts'
import { placeOrder } from './orders/place.ts'

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
