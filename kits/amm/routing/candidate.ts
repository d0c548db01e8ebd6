// A route that may take a share of a swap.
import { floatError, type Estimate } from '../protocol.ts'
import { estimateAlong, quoteAlong, versionsOf, type MissingState, type PoolEdge, type RouteQuery } from './graph.ts'

/** A swap is split in twentieths. */
export const wholeShare = 20

/** A share of an amount, in twentieths, rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** What a route gives for some twentieths. */
export interface Share extends Estimate {
  readonly unknowns?: readonly MissingState[]
}

/** A route that may take a share of a swap. */
export class Candidate {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  readonly #query: RouteQuery
  /** By the number of twentieths; null where a pool refuses that much. */
  readonly #shares: (Share | null | undefined)[] = [nothing]

  constructor(edges: readonly PoolEdge[], query: RouteQuery) {
    this.edges = edges
    this.versions = versionsOf(edges)
    this.#query = query
  }

  /** Undefined where a pool refuses that much. */
  share(count: number): Share | undefined {
    let known = this.#shares[count]
    if (known === undefined) this.#shares[count] = known = this.#computed(count)
    return known ?? undefined
  }

  #computed(count: number): Share | null {
    const { exact, amountRaw } = this.#query
    const estimate = estimateAlong(this.edges, exact, (Number(amountRaw) * count) / wholeShare)
    if (estimate) return estimate
    const quote = quoteAlong(this.edges, exact, shareOf(amountRaw, count))
    if (!quote) return null
    return { amount: Number(quote.amountRaw), error: floatError, gasUnits: Number(quote.gasUnits), unknowns: quote.unknowns }
  }

  /** The gain of the next twentieth after so many: its output, or its input as a negative number. Infinitely bad where a pool refuses it. */
  marginalGain(count: number): number {
    const [before, after] = [this.share(count), count < wholeShare ? this.share(count + 1) : undefined]
    if (!before || !after) return -Infinity
    return this.#query.exact === 'in' ? after.amount - before.amount : before.amount - after.amount
  }

  /** What its twentieths gain that gain more than a price. */
  gainBeyond(price: number): number {
    let sum = 0
    for (let count = 0; count < wholeShare; count += 1) {
      const gain = this.marginalGain(count) - price
      if (gain <= 0) break
      sum += gain
    }
    return sum
  }
}

const nothing: Share = { amount: 0, error: 0, gasUnits: 0 }

export type HasEdges = Pick<Candidate, 'edges'>

export const isSameRoute = (a: readonly PoolEdge[], b: readonly PoolEdge[]): boolean =>
  a.length === b.length && a.every(({ pool }, index) => pool === b[index]?.pool)

/** Whether two routes have no pool in common. */
export function areDisjoint(a: HasEdges, b: HasEdges): boolean {
  for (const { pool } of a.edges) for (const edge of b.edges) if (edge.pool === pool) return false
  return true
}

/** Each share of the amount would be asked of the chain. */
export const isAsked = ({ edges }: HasEdges): boolean => edges.some(({ protocol, pool }) => protocol.asksChain?.(pool))
