// What a router needs to know of a quote's routes: their shares, their bounds, the tokens along them.
import type { Hop, Quote } from '../../core/contracts/index.ts'

/** One of the routes of a quote. */
export interface RoutePart {
  readonly route: readonly Hop[]
  /** Of the exact amount. */
  readonly exactRaw: bigint
  /** Of the other side. */
  readonly otherRaw: bigint
}

/** The routes of a quote: a single one if it has no `parts`. */
export function partsOf({ swap, amountRaw, route, parts }: Pick<Quote, 'swap' | 'amountRaw' | 'route' | 'parts'>): readonly RoutePart[] {
  if (!parts) return [{ route, exactRaw: swap.amountRaw, otherRaw: amountRaw }]
  let from = 0
  return parts.map(({ hops, exactRaw, otherRaw }) => ({ route: route.slice(from, (from += hops)), exactRaw, otherRaw }))
}

/**
 * Divides a swap's bound among its parts in proportion to their quotes. The parts add up to the bound, to the unit, so the chain enforces
 * exactly the bound that the caller was told. If the quote is within the bound, each part is within its own: the remainder of the rounding
 * goes to parts that have room for it.
 */
export function boundsOf(parts: readonly Pick<RoutePart, 'otherRaw'>[], boundRaw: bigint): readonly bigint[] {
  const quotedRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const bounds = parts.map(({ otherRaw }) => (otherRaw * boundRaw) / quotedRaw)
  let leftRaw = boundRaw - bounds.reduce((sum, each) => sum + each, 0n)
  return parts.map(({ otherRaw }, index) => {
    const ownRaw = bounds[index] ?? 0n
    const roomRaw = otherRaw > ownRaw ? otherRaw - ownRaw : 0n
    const moreRaw = index === parts.length - 1 || leftRaw < roomRaw ? leftRaw : roomRaw
    leftRaw -= moreRaw
    return ownRaw + moreRaw
  })
}

/** The tokens that a route passes, in order: one more than it has hops. */
export const tokensAlong = (route: readonly Pick<Hop, 'tokenIn' | 'tokenOut'>[]): readonly string[] => [
  ...route.slice(0, 1).map(({ tokenIn }) => tokenIn),
  ...route.map(({ tokenOut }) => tokenOut),
]
