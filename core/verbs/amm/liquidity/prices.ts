import type { RangePrice } from '../../../contracts/index.ts'
import { fractionOf, ratio, type Rounding } from '../../../decimal.ts'
import type { OrderedPair } from './pair.ts'

const inverse = ({ numerator, denominator }: RangePrice): RangePrice => ({ numerator: denominator, denominator: numerator })

/** Token1 per token0 as the caller ordered them, in human units → the pool's own price. @param text more than 0 */
export function toPoolPrice(text: string, { pair: [token0, token1], reversed }: OrderedPair): RangePrice {
  const { numerator, denominator } = fractionOf(text)
  const price = { numerator: numerator * 10n ** BigInt(token1.decimals), denominator: denominator * 10n ** BigInt(token0.decimals) }
  return reversed ? inverse(price) : price
}

/** A pool's own price → token1 per token0 as the caller ordered them, in human units. */
export function showPrice(price: RangePrice, { pair: [token0, token1], reversed }: OrderedPair, rounding: Rounding): string {
  const { numerator, denominator } = reversed ? inverse(price) : price
  return ratio(numerator * 10n ** BigInt(token0.decimals), denominator * 10n ** BigInt(token1.decimals), rounding)
}

/**
 * Bounds as the caller ordered the tokens. Rounded inward: they lie within the range then, so that the same bounds, sent
 * again and snapped outward, give the same range.
 */
export function showBounds(range: { lowerPrice: RangePrice; upperPrice: RangePrice }, order: OrderedPair) {
  const [lower, upper] = order.reversed ? [range.upperPrice, range.lowerPrice] : [range.lowerPrice, range.upperPrice]
  return { lowerPrice: showPrice(lower, order, 'up'), upperPrice: showPrice(upper, order, 'down') }
}

export const isBelow = (one: RangePrice, other: RangePrice) => one.numerator * other.denominator < other.numerator * one.denominator
