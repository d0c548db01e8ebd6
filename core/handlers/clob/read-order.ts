import { badFields, SluiceError, type FieldProblem } from '../../api/index.ts'
import type { BookMarket, TimeInForce } from '../../contracts/index.ts'
import { isLess, isZero, plain, times } from '../../verbs/clob/figures/exact.ts'
import { isInLots, leastAmount, nearestAmounts } from '../../verbs/clob/figures/lots.ts'
import { gridInWords, isOnGrid, nearestPrices } from './grids.ts'
import { nameOf } from './markets.ts'
import type { OrderFields } from '../../verbs/clob/orders/order-fields.ts'

/**
 * Whether a market takes an order as it is written, but for the price of MARKET, which the book must be known for.
 * @returns for how long it is meant
 * @throws SluiceError UNSUPPORTED, TRADE_FAILED, or INCOMPLETE_PARAMS with all that is wrong
 */
export function checkOrder(order: OrderFields, market: BookMarket): TimeInForce {
  const timeInForce = requireTaken(order, market)
  requireLeveraged(order, market)
  const problems = [...aboutPrice(order, market), ...aboutAmount(order, market), ...aboutLeverage(order, market)]
  const [first, ...more] = problems
  if (first) throw badFields([first, ...more])
  requireOpen(market)
  if (order.price !== undefined) requireNotional(order, market, order.price)
  return timeInForce
}

function requireTaken({ orderType, timeInForce }: OrderFields, market: BookMarket): TimeInForce {
  const { takes } = market
  const times = takes[orderType]
  if (!times) {
    const known = Object.keys(takes).join(', ') || 'none'
    throw new SluiceError('UNSUPPORTED', `${nameOf(market)} takes no ${orderType} orders, and none is imitated: it takes ${known}.`)
  }
  if (timeInForce === undefined || times.includes(timeInForce)) return timeInForce ?? times[0]
  throw new SluiceError(
    'UNSUPPORTED',
    `${nameOf(market)} takes no ${orderType} orders that are ${timeInForce}, and none is imitated: it takes ${times.join(', ')}.`,
  )
}

function requireLeveraged({ leverage, reduceOnly }: OrderFields, market: BookMarket): void {
  const field = leverage !== undefined ? 'leverage' : reduceOnly === true ? 'reduceOnly' : undefined
  if (field === undefined || market.maxLeverage !== undefined) return
  throw new SluiceError('UNSUPPORTED', `Orders on ${nameOf(market)} have no ${field}; leave it out.`)
}

/** @throws SluiceError TRADE_FAILED */
export function requireOpen(market: BookMarket): void {
  if (market.status === 'open') return
  const reason = `the market is ${market.status}`
  throw new SluiceError('TRADE_FAILED', `${nameOf(market)} takes no orders: ${reason}. Nothing was sent.`, { details: { reason } })
}

/** @throws SluiceError INCOMPLETE_PARAMS where the order is worth less than the market takes; what reduces may be the rest of a position */
export function requireNotional({ amount, reduceOnly }: OrderFields, market: BookMarket, price: string): void {
  const { minNotional, quote } = market
  if (minNotional === undefined || reduceOnly === true || !isLess(times(price, amount), minNotional)) return
  const problem = `at ${price} is worth ${times(price, amount)} ${quote}, below the market's minNotional of ${plain(minNotional)}`
  throw badFields([{ field: 'amount', problem }])
}

function aboutPrice({ orderType, price, limitPrice, allowedSlippage }: OrderFields, market: BookMarket): FieldProblem[] {
  if (orderType === 'MARKET') {
    const problems: FieldProblem[] = []
    if (price !== undefined) problems.push({ field: 'price', problem: 'is for limit orders: a MARKET order is bounded by limitPrice' })
    if (limitPrice !== undefined && isZero(limitPrice)) problems.push({ field: 'limitPrice', problem: 'must be more than 0' })
    return problems
  }
  const ofMarketOnly = Object.entries({ limitPrice, allowedSlippage }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, problem: `is for MARKET orders: the bound of a ${orderType} order is its price` }],
  )
  return [...ofMarketOnly, ...aboutLimit(price, orderType, market)]
}

function aboutLimit(price: string | undefined, orderType: string, market: BookMarket): FieldProblem[] {
  if (price === undefined) return [{ field: 'price', problem: `is required of a ${orderType} order` }]
  if (isZero(price)) return [{ field: 'price', problem: 'must be more than 0' }]
  if (isOnGrid(price, market.prices)) return []
  const nearest = nearestPrices(price, market.prices)
  return [
    { field: 'price', problem: `${price} is not on the market's grid, ${gridInWords(market.prices)}: ${nearest.join(' or ')}`, nearest },
  ]
}

function aboutAmount({ amount }: OrderFields, market: BookMarket): FieldProblem[] {
  if (isZero(amount)) return [{ field: 'amount', problem: 'must be more than 0' }]
  const nearest = nearestAmounts(amount, market)
  if (!isInLots(amount, market.lotSize)) {
    const problem = `${amount} is no multiple of the market's lotSize ${plain(market.lotSize)}: ${nearest.join(' or ')}`
    return [{ field: 'amount', problem, nearest }]
  }
  const least = leastAmount(market)
  return isLess(amount, least) ? [{ field: 'amount', problem: `${amount} is below the market's smallest order of ${least}`, nearest }] : []
}

export function aboutLeverage({ leverage }: Pick<OrderFields, 'leverage'>, { maxLeverage }: BookMarket): FieldProblem[] {
  if (leverage === undefined || maxLeverage === undefined) return []
  if (isLess(leverage, '1')) return [{ field: 'leverage', problem: 'must be 1 or more' }]
  return isLess(maxLeverage, leverage)
    ? [{ field: 'leverage', problem: `is above ${plain(maxLeverage)}, the most that the market allows` }]
    : []
}
