import { isObject, object, wrong, type Check } from '../boot/answers/check.ts'
import {
  checkBookMarket,
  checkBookPlan,
  checkDecimal,
  checkDepositPlan,
  checkOptional,
  checkOrderType,
  checkSameMarket,
  checkSide,
  checkState,
  checkText,
  checkTime,
  list,
} from '../boot/answers/clob-shapes.ts'

/** Lists of markets are long, and the same one is given again and again. */
const goodLists = new WeakSet<object>()

/** By verb of every order book. What it says of another market or order than was asked for would be shown as this one's. */
export const clobChecks: Readonly<Record<string, Check>> = {
  markets: (answer) => {
    const markets = list('markets', answer)
    if (goodLists.has(markets)) return
    const names = markets.map(checkBookMarket)
    if (new Set(names).size < names.length) throw new Error('markets has two of one name')
    goodLists.add(markets)
  },
  orders: (answer, [, query]) => {
    const { market, names } = object('query', query)
    for (const each of list('orders', answer)) {
      const order = object('order', each)
      checkText('order', 'orderId', order.orderId)
      if (order.clientOrderId !== undefined) checkText('order', 'clientOrderId', order.clientOrderId)
      checkSameMarket('order', order.market, market)
      checkSide('order', order.side)
      checkOrderType('order', order.orderType)
      checkState('order', order.state)
      for (const key of ['price', 'amount', 'filledAmount']) checkDecimal('order', key, order[key], '0 or more')
      checkOptional('order', 'averagePrice', order.averagePrice, '0 or more')
      for (const key of ['createdAt', 'updatedAt']) checkTime('order', key, order[key])
      if (names !== undefined && !list('names', names).some((name) => isNamed(order, name)))
        throw wrong('orders', 'order', 'one that was named')
    }
  },
  trades: (answer, [query]) => {
    const { market, orderId, before } = object('query', query)
    let last = before === undefined ? Infinity : Number(before) - 1
    for (const each of list('trades', answer)) {
      const trade = object('trade', each)
      checkText('trade', 'tradeId', trade.tradeId)
      if (trade.orderId !== undefined) checkText('trade', 'orderId', trade.orderId)
      if (orderId !== undefined && trade.orderId !== orderId) throw wrong('trade', 'orderId', 'that which was asked for')
      checkSameMarket('trade', trade.market, market)
      checkSide('trade', trade.side)
      for (const key of ['price', 'amount']) checkDecimal('trade', key, trade[key], 'above 0')
      checkDecimal('trade', 'fee', trade.fee, 'signed')
      checkText('trade', 'feeToken', trade.feeToken)
      last = checkNotNewer('trades', trade.timestamp, last)
    }
  },
  balances: (answer) => {
    const symbols = list('balances', answer).map((each) => {
      const balance = object('balance', each)
      for (const key of ['total', 'available', 'locked']) checkDecimal('balance', key, balance[key], 'signed')
      return checkText('balance', 'symbol', balance.symbol)
    })
    if (new Set(symbols).size < symbols.length) throw new Error('balances has two of one symbol')
  },
  act: (answer, [, actions]) => {
    const covered = list('act', answer).flatMap((each) => {
      const { covers, plan } = object('act', each)
      checkBookPlan(plan)
      return list('covers', covers)
    })
    const wanted = list('actions', actions).length
    const places = new Set(covered)
    const isEach = Array.from({ length: wanted }, (_, place) => place).every((place) => places.has(place))
    if (!isEach || covered.length !== wanted) throw new Error('act must give plans that cover each action once')
  },
  outcome: (answer) => {
    for (const each of list('outcome', answer)) {
      const { state, orderId, filledAmount, averagePrice, reason } = object('outcome', each)
      checkState('outcome', state)
      if (orderId !== undefined) checkText('outcome', 'orderId', orderId)
      checkOptional('outcome', 'filledAmount', filledAmount, '0 or more')
      checkOptional('outcome', 'averagePrice', averagePrice, '0 or more')
      if (reason !== undefined) checkText('outcome', 'reason', reason)
    }
  },
  move: checkBookPlan,
  depositFrom: checkDepositPlan,
}

/** Newest first. */
export function checkNotNewer(of: string, timestamp: unknown, last: number): number {
  const time = checkTime(of, 'timestamp', timestamp)
  if (time > last) throw wrong(of, 'timestamp', 'before what was asked for, newest first')
  return time
}

const isNamed = (order: Readonly<Record<string, unknown>>, name: unknown): boolean =>
  isObject(name) &&
  ((name.orderId !== undefined && name.orderId === order.orderId) ||
    (name.clientOrderId !== undefined && name.clientOrderId === order.clientOrderId))
