import { badFields, SluiceError, type FieldProblem, type BookSet } from '../../api/index.ts'
import type { BookMarket, TimeInForce, At, NewOrder, Book } from '../../contracts/index.ts'
import { isLess, isZero, normalize, multiply, max, parseDecimal, toFraction } from '../../decimal.ts'
import type { TargetContext, Services } from '../context.ts'
import { effectiveSlippage, type Slippage } from '../slippage.ts'
import { isInLots, minAmount, nearestAmounts, describeGrid, isOnGrid, nearestPrices, roundPrice } from './grids.ts'
import { marketName, readBookView } from './markets.ts'

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
    throw new SluiceError('UNSUPPORTED', `${marketName(market)} takes no ${orderType} orders, and none is imitated: it takes ${known}.`)
  }
  if (timeInForce === undefined || times.includes(timeInForce)) return timeInForce ?? times[0]
  throw new SluiceError(
    'UNSUPPORTED',
    `${marketName(market)} takes no ${orderType} orders that are ${timeInForce}, and none is imitated: it takes ${times.join(', ')}.`,
  )
}

function requireLeveraged({ leverage, reduceOnly }: OrderFields, market: BookMarket): void {
  const field = leverage !== undefined ? 'leverage' : reduceOnly === true ? 'reduceOnly' : undefined
  if (field === undefined || market.maxLeverage !== undefined) return
  throw new SluiceError('UNSUPPORTED', `Orders on ${marketName(market)} have no ${field}; leave it out.`)
}

/** @throws SluiceError TRADE_FAILED */
function requireOpen(market: BookMarket): void {
  if (market.status === 'open') return
  const reason = `the market is ${market.status}`
  throw new SluiceError('TRADE_FAILED', `${marketName(market)} takes no orders: ${reason}. Nothing was sent.`, { details: { reason } })
}

/** @throws SluiceError INCOMPLETE_PARAMS where the order is worth less than the market takes; what reduces may be the rest of a position */
export function requireNotional({ amount, reduceOnly }: OrderFields, market: BookMarket, price: string): void {
  const { minNotional, quote } = market
  if (minNotional === undefined || reduceOnly === true || !isLess(multiply(price, amount), minNotional)) return
  const problem = `at ${price} is worth ${multiply(price, amount)} ${quote}, below the market's minNotional of ${normalize(minNotional)}`
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
    { field: 'price', problem: `${price} is not on the market's grid, ${describeGrid(market.prices)}: ${nearest.join(' or ')}`, nearest },
  ]
}

function aboutAmount({ amount }: OrderFields, market: BookMarket): FieldProblem[] {
  if (isZero(amount)) return [{ field: 'amount', problem: 'must be more than 0' }]
  const nearest = nearestAmounts(amount, market)
  if (!isInLots(amount, market.lotSize)) {
    const problem = `${amount} is no multiple of the market's lotSize ${normalize(market.lotSize)}: ${nearest.join(' or ')}`
    return [{ field: 'amount', problem, nearest }]
  }
  const least = minAmount(market)
  return isLess(amount, least) ? [{ field: 'amount', problem: `${amount} is below the market's smallest order of ${least}`, nearest }] : []
}

export function aboutLeverage({ leverage }: Pick<OrderFields, 'leverage'>, { maxLeverage }: BookMarket): FieldProblem[] {
  if (leverage === undefined || maxLeverage === undefined) return []
  if (isLess(leverage, '1')) return [{ field: 'leverage', problem: 'must be 1 or more' }]
  return isLess(maxLeverage, leverage)
    ? [{ field: 'leverage', problem: `is above ${normalize(maxLeverage)}, the most that the market allows` }]
    : []
}

type Context = { services: Services } & TargetContext<'connector'>

/** A request's order as it is sent: checked against the market, a MARKET order with its bound. */
export async function readOrder(
  type: BookSet,
  fields: OrderFields & { clientOrderId: string },
  market: BookMarket,
  context: Context,
  at: At,
): Promise<NewOrder> {
  const timeInForce = checkOrder(fields, market)
  const { clientOrderId, orderType, amount, price, leverage, reduceOnly } = fields
  return {
    clientOrderId,
    side: sideOf(fields),
    orderType,
    timeInForce,
    price: price === undefined ? await boundOf(type, fields, market, context, at) : normalize(price),
    amount: normalize(amount),
    ...(leverage !== undefined && { leverage: normalize(leverage) }),
    ...(reduceOnly === true && { reduceOnly }),
  }
}

/** What a MARKET order may be filled at, at worst. */
async function boundOf(type: BookSet, fields: OrderFields, market: BookMarket, context: Context, at: At): Promise<string> {
  const { limitPrice } = fields
  const side = sideOf(fields)
  const slippage = effectiveSlippage(context.venue.config, [], fields.allowedSlippage)
  const book = readBookView(type, market, context, at)
  const bound: MarketBound =
    limitPrice === undefined
      ? boundBySlippage(side, market, await book, slippage)
      : boundByLimitPrice(side, market, await book.catch(noBook), limitPrice)
  // The exchange may reckon by either: what would pass by one of them is left to it.
  requireNotional(fields, market, max(bound.price, bound.reference ?? '0'))
  return bound.price
}

/** With a limit of the caller's the book is not needed: the exchange holds it. */
function noBook(error: unknown): undefined {
  if (!(error instanceof SluiceError) || error.http < 503) throw error
}

/** What a request says of an order. */
export interface OrderFields {
  side: 'BUY' | 'SELL' | 'LONG' | 'SHORT'
  orderType: 'LIMIT' | 'LIMIT_MAKER' | 'MARKET'
  price?: string
  amount: string
  clientOrderId?: string
  timeInForce?: 'GTC' | 'IOC' | 'FOK'
  limitPrice?: string
  allowedSlippage?: string
  leverage?: string
  reduceOnly?: boolean
}

/** LONG and SHORT of a perpetual are a purchase and a sale. */
const sideOf = ({ side }: Pick<OrderFields, 'side'>): 'BUY' | 'SELL' => (side === 'BUY' || side === 'LONG' ? 'BUY' : 'SELL')

/** What a MARKET order may pay, or must get, at most: `price` is what the exchange enforces, `reference` the best price of the book. */
interface MarketBound {
  price: string
  reference?: string
}

/**
 * The best price of the other side moved by the slippage, on the grid and never looser.
 * @throws SluiceError PRICE_FAILED where there is nothing to trade with
 */
export function boundBySlippage(side: 'BUY' | 'SELL', market: BookMarket, book: Book, { numerator, denominator }: Slippage): MarketBound {
  const reference = bestOf(side, book)
  if (reference === undefined) {
    const lacking = side === 'BUY' ? 'sells' : 'buys'
    throw new SluiceError('PRICE_FAILED', `Nobody ${lacking} on ${marketName(market)} now: there is no price to bound a MARKET order by.`)
  }
  const best = toFraction(reference)
  const part = side === 'BUY' ? denominator + numerator : denominator - numerator
  // A slippage of all or more leaves no bound but that something is paid: the smallest price there is.
  const moved = { numerator: best.numerator * (part > 0n ? part : 1n), denominator: best.denominator * denominator }
  return { price: roundPrice(moved, market.prices, side === 'BUY' ? 'down' : 'up'), reference }
}

/**
 * The caller's own limit on the grid, never looser.
 * @param book absent where it is not known: the exchange enforces the bound
 * @throws SluiceError where the market is past it already
 */
export function boundByLimitPrice(side: 'BUY' | 'SELL', market: BookMarket, book: Book | undefined, limitPrice: string): MarketBound {
  const price = roundPrice(toFraction(limitPrice), market.prices, side === 'BUY' ? 'down' : 'up')
  if (price === '0')
    throw badFields([{ field: 'limitPrice', problem: `${limitPrice} is below the smallest price of ${marketName(market)}` }])
  const reference = book && bestOf(side, book)
  if (reference === undefined) return { price }
  if (side === 'BUY' && isLess(price, reference))
    throw new SluiceError(
      'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
      `The best offer is at ${reference} now, above limitPrice: nothing was sent. Raise limitPrice or wait.`,
    )
  if (side === 'SELL' && isLess(reference, price))
    throw new SluiceError(
      'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
      `The best bid is at ${reference} now, below limitPrice: nothing was sent. Lower limitPrice or wait.`,
    )
  return { price, reference }
}

const bestOf = (side: 'BUY' | 'SELL', { buys, sells }: Book) => (side === 'BUY' ? sells : buys)[0]?.price
