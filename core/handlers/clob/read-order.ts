import type { BookSet, CLOBPerpOrdersPostRequest } from '../../api/index.ts'
import type { Book, BookMarket, NewOrder, TimeInForce } from '../../contracts/index.ts'
import { isLess, isZero, max, multiply, normalize, toCommonScale, toFraction } from '../../base/decimal.ts'
import { badFields, SluiceError, type FieldProblem } from '../../base/errors.ts'
import type { ConnectorContext } from '../context.ts'
import { effectiveSlippage, type Slippage } from '../slippage.ts'
import { describeGrid, isInLots, isOnGrid, minAmount, nearestAmounts, nearestPrices, roundPrice } from './grids.ts'
import { marketName, readBook } from './markets.ts'

/** The fields of an order in a request: perpetuals have all of them. */
export type OrderFields = Pick<
  CLOBPerpOrdersPostRequest,
  'side' | 'orderType' | 'price' | 'amount' | 'clientOrderId' | 'timeInForce' | 'limitPrice' | 'allowedSlippage' | 'leverage' | 'reduceOnly'
>

/** LONG and SHORT of a perpetual are BUY and SELL. */
const sideOf = ({ side }: Pick<OrderFields, 'side'>): 'BUY' | 'SELL' => (side === 'BUY' || side === 'LONG' ? 'BUY' : 'SELL')

/**
 * The order that is sent for a request: checked against the market, a MARKET order with its worst price.
 * @throws SluiceError as `checkOrder`
 */
export async function readOrder(
  type: BookSet,
  fields: OrderFields & { clientOrderId: string },
  market: BookMarket,
  context: ConnectorContext,
): Promise<NewOrder> {
  const timeInForce = checkOrder(fields, market)
  const { clientOrderId, orderType, amount, price, leverage, reduceOnly } = fields
  return {
    clientOrderId,
    side: sideOf(fields),
    orderType,
    timeInForce,
    price: price === undefined ? await boundOf(type, fields, market, context) : normalize(price),
    amount: normalize(amount),
    ...(leverage !== undefined && { leverage: normalize(leverage) }),
    ...(reduceOnly === true && { reduceOnly }),
  }
}

/**
 * Checks an order against its market, except the price of a MARKET order, which needs the book.
 * @returns the order's time in force
 * @throws SluiceError UNSUPPORTED, TRADE_FAILED, or INCOMPLETE_PARAMS with all problems
 */
export function checkOrder(order: OrderFields, market: BookMarket): TimeInForce {
  const timeInForce = requireOrderType(order, market)
  requireLeveraged(order, market)
  const [first, ...more] = [...priceProblems(order, market), ...amountProblems(order, market), ...leverageProblems(order, market)]
  if (first) throw badFields([first, ...more])
  requireOpen(market)
  if (order.price !== undefined) requireNotional(order, market, order.price)
  return timeInForce
}

function requireOrderType({ orderType, timeInForce }: OrderFields, market: BookMarket): TimeInForce {
  const { takes } = market
  const times = takes[orderType]
  if (!times) {
    const known = Object.keys(takes).join(', ') || 'none'
    throw new SluiceError(
      'UNSUPPORTED',
      `${marketName(market)} takes no ${orderType} orders, and Sluice does not emulate them: it takes ${known}.`,
    )
  }
  if (timeInForce === undefined || times.includes(timeInForce)) return timeInForce ?? times[0]
  throw new SluiceError(
    'UNSUPPORTED',
    `${marketName(market)} takes no ${orderType} orders that are ${timeInForce}, and Sluice does not emulate them: it takes ${times.join(', ')}.`,
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

/**
 * A reduction may be smaller: it may be the rest of a position.
 * @throws SluiceError INCOMPLETE_PARAMS below the market's minimum notional
 */
export function requireNotional({ amount, reduceOnly }: OrderFields, market: BookMarket, price: string): void {
  const { minNotional, quote } = market
  if (minNotional === undefined || reduceOnly === true || !isLess(multiply(price, amount), minNotional)) return
  const problem = `at ${price} is worth ${multiply(price, amount)} ${quote}, below the market's minNotional of ${normalize(minNotional)}`
  throw badFields([{ field: 'amount', problem }])
}

function priceProblems({ orderType, price, limitPrice, allowedSlippage }: OrderFields, market: BookMarket): FieldProblem[] {
  if (orderType === 'MARKET') {
    const problems: FieldProblem[] = []
    if (price !== undefined) problems.push({ field: 'price', problem: 'is for limit orders: a MARKET order is bounded by limitPrice' })
    if (limitPrice !== undefined && isZero(limitPrice)) problems.push({ field: 'limitPrice', problem: 'must be more than 0' })
    return problems
  }
  const marketOnly = Object.entries({ limitPrice, allowedSlippage }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, problem: `is for MARKET orders: the bound of a ${orderType} order is its price` }],
  )
  return [...marketOnly, ...limitPriceProblems(price, orderType, market)]
}

function limitPriceProblems(price: string | undefined, orderType: string, market: BookMarket): FieldProblem[] {
  if (price === undefined) return [{ field: 'price', problem: `is required for a ${orderType} order` }]
  if (isZero(price)) return [{ field: 'price', problem: 'must be more than 0' }]
  if (isOnGrid(price, market.prices)) return []
  const nearest = nearestPrices(price, market.prices)
  return [
    { field: 'price', problem: `${price} is not on the market's grid, ${describeGrid(market.prices)}: ${nearest.join(' or ')}`, nearest },
  ]
}

function amountProblems({ amount }: OrderFields, market: BookMarket): FieldProblem[] {
  if (isZero(amount)) return [{ field: 'amount', problem: 'must be more than 0' }]
  const nearest = nearestAmounts(amount, market)
  if (!isInLots(amount, market.lotSize)) {
    const problem = `${amount} is not a multiple of the market's lotSize ${normalize(market.lotSize)}: ${nearest.join(' or ')}`
    return [{ field: 'amount', problem, nearest }]
  }
  const min = minAmount(market)
  return isLess(amount, min) ? [{ field: 'amount', problem: `${amount} is below the market's smallest order of ${min}`, nearest }] : []
}

export function leverageProblems({ leverage }: Pick<OrderFields, 'leverage'>, { maxLeverage }: BookMarket): FieldProblem[] {
  if (leverage === undefined || maxLeverage === undefined) return []
  if (isLess(leverage, '1')) return [{ field: 'leverage', problem: 'must be 1 or more' }]
  return isLess(maxLeverage, leverage) ? [{ field: 'leverage', problem: `is above the market's maximum of ${normalize(maxLeverage)}` }] : []
}

/** The worst price of a MARKET order. */
interface MarketBound {
  /** Enforced by the exchange. */
  price: string
  /** The best price of the book. */
  reference?: string
}

async function boundOf(type: BookSet, fields: OrderFields, market: BookMarket, context: ConnectorContext): Promise<string> {
  const { limitPrice } = fields
  const side = sideOf(fields)
  if (limitPrice === undefined && context.venue.contained)
    throw badFields([
      {
        field: 'limitPrice',
        problem: `is required: ${context.venue.connector} is neither built in nor trusted, so its own book bounds no order. Give the worst price that you accept`,
      },
    ])
  const slippage = effectiveSlippage(context.venue.config, [], fields.allowedSlippage)
  const book = readBook(type, market, context)
  const bound: MarketBound =
    limitPrice === undefined
      ? boundBySlippage(side, market, await book, slippage)
      : boundByLimitPrice(side, market, await book.catch(undefinedIfUnavailable), limitPrice)
  if (fields.reduceOnly !== true)
    context.services.allowLists.requireSlippage(context.caller.id, () => (limitPrice === undefined ? slippage : slippageOf(side, bound)))
  // The exchange may compute the notional by either price: the larger one decides here, the exchange decides the rest.
  requireNotional(fields, market, max(bound.price, bound.reference ?? '0'))
  return bound.price
}

/** How far the bound is from the best price. */
function slippageOf(side: 'BUY' | 'SELL', { price, reference }: MarketBound): Slippage | 'unknown' {
  if (reference === undefined) return 'unknown'
  const { aRaw, bRaw } = toCommonScale(price, reference)
  return { numerator: side === 'BUY' ? aRaw - bRaw : bRaw - aRaw, denominator: bRaw }
}

/** With the caller's own limit, the order can be sent without the book: the exchange enforces the limit. */
function undefinedIfUnavailable(error: unknown): undefined {
  if (!(error instanceof SluiceError) || error.http < 503) throw error
}

/**
 * The best price of the other side moved by the slippage, rounded to the grid so that it is never looser.
 * @throws SluiceError PRICE_FAILED if the other side is empty
 */
export function boundBySlippage(side: 'BUY' | 'SELL', market: BookMarket, book: Book, { numerator, denominator }: Slippage): MarketBound {
  const reference = bestOf(side, book)
  if (reference === undefined) {
    const missing = side === 'BUY' ? 'sells' : 'buys'
    throw new SluiceError(
      'PRICE_FAILED',
      `Nobody ${missing} on ${marketName(market)} now, so a MARKET order has no price to be bounded by.`,
    )
  }
  const best = toFraction(reference)
  const part = side === 'BUY' ? denominator + numerator : denominator - numerator
  // With a slippage of 100 % or more, the bound is the smallest price.
  const moved = { numerator: best.numerator * (part > 0n ? part : 1n), denominator: best.denominator * denominator }
  return { price: roundPrice(moved, market.prices, side === 'BUY' ? 'down' : 'up'), reference }
}

/**
 * The caller's own limit, rounded to the grid so that it is never looser.
 * @param book undefined if it is unavailable
 * @throws SluiceError SWAP_PRICE_EXCEEDS_LIMIT_PRICE or SWAP_PRICE_LOWER_THAN_LIMIT_PRICE if the market is past it already
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
