import type { Hop } from '../../../contracts/index.ts'

export type Kind = 'range' | 'constant-product'

/** Hops in a row that one call to the router carries out. */
export interface Leg {
  readonly kind: Kind
  readonly hops: readonly Hop[]
}

/** A route cut where the kind of pool changes. */
export function legsOf(route: readonly Hop[], kindOf: (hop: Hop) => Kind): readonly Leg[] {
  const legs: { kind: Kind; hops: Hop[] }[] = []
  for (const hop of route) {
    const kind = kindOf(hop)
    const last = legs.at(-1)
    if (last?.kind === kind) last.hops.push(hop)
    else legs.push({ kind, hops: [hop] })
  }
  return legs
}

export function tokensAlong(hops: readonly Hop[]): readonly string[] {
  return [...hops.slice(0, 1).map(({ tokenIn }) => tokenIn), ...hops.map(({ tokenOut }) => tokenOut)]
}
