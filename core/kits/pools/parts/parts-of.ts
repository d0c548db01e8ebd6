import type { Hop, Quote } from '../../../contracts/index.ts'

/** One way of a swap, in order, with what goes in and comes out of it. */
export interface RoutePart {
  readonly route: readonly Hop[]
  /** Of the exact amount. */
  readonly exactRaw: bigint
  /** Of the other side. */
  readonly otherRaw: bigint
}

/** The ways that a quote goes: one, where it has no `parts`. */
export function partsOf({ swap, amountRaw, route, parts }: Pick<Quote, 'swap' | 'amountRaw' | 'route' | 'parts'>): readonly RoutePart[] {
  if (!parts) return [{ route, exactRaw: swap.amountRaw, otherRaw: amountRaw }]
  let from = 0
  return parts.map(({ hops, exactRaw, otherRaw }) => ({ route: route.slice(from, (from += hops)), exactRaw, otherRaw }))
}
