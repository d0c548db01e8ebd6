import { badFields, type FieldProblem } from '../../../api/index.ts'
import type { AMMRange, RangePool, RangePrice, TickRange } from '../../../contracts/index.ts'
import { fractionOf } from '../../../decimal.ts'
import type { OrderedPair } from './pair.ts'
import { isBelow, showBounds, toPoolPrice } from './prices.ts'

/** As in a request: prices of the caller's order. */
export interface Bounds {
  lowerPrice: string
  upperPrice: string
}

/** Bounds that make a range whatever the pool is. @throws SluiceError INCOMPLETE_PARAMS */
export function readBounds({ lowerPrice, upperPrice }: Partial<Bounds>): Bounds | undefined {
  if (lowerPrice === undefined && upperPrice === undefined) return undefined
  if (lowerPrice === undefined) throw badFields([{ field: 'lowerPrice', problem: 'is required with upperPrice' }])
  if (upperPrice === undefined) throw badFields([{ field: 'upperPrice', problem: 'is required with lowerPrice' }])
  const [lower, upper] = [fractionOf(lowerPrice), fractionOf(upperPrice)]
  const zero: FieldProblem = { field: 'lowerPrice', problem: 'must be more than 0: a range has no bound at 0' }
  if (upper.numerator === 0n) throw badFields([{ ...zero, field: 'upperPrice' }])
  if (lower.numerator === 0n) throw badFields([zero])
  if (isBelow(lower, upper)) return { lowerPrice, upperPrice }
  const problem = isBelow(upper, lower)
    ? 'is above upperPrice: swap the two. Prices are token1 per token0 as you ordered them; with the tokens swapped they are inverted'
    : 'is the same as upperPrice: a range needs two bounds'
  throw badFields([{ field: 'lowerPrice', problem }])
}

/** The narrowest range that the pool can have around these bounds. @throws SluiceError INCOMPLETE_PARAMS where it has none */
export function rangeIn(pool: RangePool, { lowerPrice, upperPrice }: Bounds, order: OrderedPair, range: AMMRange): TickRange {
  const [lower, upper] = [toPoolPrice(lowerPrice, order), toPoolPrice(upperPrice, order)]
  const found = order.reversed ? range.rangeAround(pool, upper, lower) : range.rangeAround(pool, lower, upper)
  if (found) return found
  const beyond = [...(isBeyond(lower, pool, range) ? ['lowerPrice'] : []), ...(isBeyond(upper, pool, range) ? ['upperPrice'] : [])]
  const problem = 'is beyond the prices that the pool can have: move it towards the current price'
  const [first = 'lowerPrice', ...rest] = beyond
  throw badFields([{ field: first, problem }, ...rest.map((field) => ({ field, problem }))])
}

/** Whether the pool has no range from its price to this one. */
function isBeyond(price: RangePrice, pool: RangePool, range: AMMRange): boolean {
  const [lower, upper] = isBelow(price, pool.price) ? [price, pool.price] : [pool.price, price]
  return isBelow(lower, upper) && range.rangeAround(pool, lower, upper) === undefined
}

/** Bounds that were given for a position that is there already must be its own. */
export function requireSameRange(given: TickRange, own: TickRange, order: OrderedPair): void {
  if (given.tickLower === own.tickLower && given.tickUpper === own.tickUpper) return
  const { lowerPrice, upperPrice } = showBounds(own, order)
  throw badFields([
    {
      field: 'lowerPrice',
      problem: `the position's range is ${lowerPrice} to ${upperPrice}: leave both bounds out, or make a new position`,
    },
  ])
}
