// A route that may take a share of a swap.
import { floatError, type Estimate } from '../protocol.ts'
import { estimateAlong, quoteAlong, versionsOf, type MissingState, type PoolEdge, type RouteQuery } from './graph.ts'

/** A swap is split in hundredths. */
export const wholeShare = 100
/** A division is found in steps of so many, from coarse to fine. */
export const shareSteps = [20, 5, 1] as const

/** A share of an amount, in hundredths, rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** What a route gives for some hundredths. */
export interface Share extends Estimate {
  readonly unknowns?: readonly MissingState[]
}

/** A route that may take a share of a swap. */
export class Candidate {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  readonly #query: RouteQuery
  /** By the number of hundredths; null where a pool refuses that much. Of many candidates one hundredth alone is asked for. */
  #one: Share | null | undefined
  #shares: (Share | null | undefined)[] | undefined

  constructor(edges: readonly PoolEdge[], query: RouteQuery, versions = versionsOf(edges)) {
    this.edges = edges
    this.versions = versions
    this.#query = query
  }

  /** Undefined where a pool refuses that much. */
  share(count: number): Share | undefined {
    if (count === 0) return nothing
    if (count === 1) return (this.#one === undefined ? (this.#one = this.#computed(1)) : this.#one) ?? undefined
    const shares = (this.#shares ??= noShares())
    let known = shares[count]
    if (known === undefined) shares[count] = known = this.#computed(count)
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

  /** The gain of some more hundredths after so many: their output, or their input as a negative number. Infinitely bad where a pool refuses them. */
  gainOf(more: number, count: number): number {
    const [before, after] = [this.share(count), count + more <= wholeShare ? this.share(count + more) : undefined]
    if (!before || !after) return -Infinity
    return this.#query.exact === 'in' ? after.amount - before.amount : before.amount - after.amount
  }

  /** The most that any number of its hundredths gains beyond a price of one: no route gains more with a later one than with an earlier one. */
  gainBeyond(price: number): number {
    if (this.gainOf(1, 0) <= price) return 0
    let [count, gain, last] = [0, 0, 0]
    for (const step of shareSteps) {
      // The most may lie within the last of the greater steps.
      if (count > 0) {
        count -= last
        gain -= this.gainOf(last, count) - price * last
      }
      for (;;) {
        const more = this.gainOf(step, count) - price * step
        // Also where nothing can be said of it.
        if (!(more > 0)) break
        count += step
        gain += more
      }
      last = step
    }
    return gain
  }
}

/** As long as it will be: a list that grows is copied each time. */
function noShares(): (Share | null | undefined)[] {
  const shares: (Share | null | undefined)[] = []
  shares.length = wholeShare + 1
  return shares
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
