// A route that may take a share of a swap.
import { floatError, type Estimate } from '../protocol.ts'
import { estimateAlong, quoteAlong, versionsOf, type MissingState, type PoolEdge, type RouteQuery } from './graph.ts'

/** A swap is split in hundredths. */
export const wholeShare = 100
/** A division is found in steps of so many, from coarse to fine. */
export const shareSteps = [20, 5, 1] as const
const [coarseStep, fineStep] = shareSteps

/** A share of an amount, in hundredths, rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** What a route gives for some hundredths. */
export interface Share extends Estimate {
  readonly unknowns?: readonly MissingState[]
}

/** A route that may take a share of a swap. What is known of its shares is kept until the swap is divided. */
export class Candidate {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  readonly #exact: 'in' | 'out'
  readonly #amountRaw: bigint
  readonly #amount: number
  /** Some of its shares, as far as they were asked for, are bounds: they depend on state of pools that was not read. */
  isUncertain = false
  /** Of many candidates one hundredth alone is asked for. */
  #one: Share | null | undefined
  /** By the number of hundredths; null where a pool refuses them. */
  #shares: (Share | null | undefined)[] | undefined

  constructor(edges: readonly PoolEdge[], { exact, amountRaw }: RouteQuery, versions = versionsOf(edges)) {
    this.edges = edges
    this.versions = versions
    this.#exact = exact
    this.#amountRaw = amountRaw
    this.#amount = Number(amountRaw)
  }

  /** Undefined where a pool refuses that much. */
  share(count: number): Share | undefined {
    return this.#share(count) ?? undefined
  }

  /** What so many hundredths are worth: their output, or their input as a negative number. Infinitely little where a pool refuses them. */
  worthOf(count: number): number {
    if (count === 0) return 0
    const share = this.#share(count)
    if (share === null) return -Infinity
    return this.#exact === 'in' ? share.amount : -share.amount
  }

  /** Of its pools, for so many hundredths that it takes. */
  gasOf(count: number): number {
    return count === 0 ? 0 : (this.#share(count)?.gasUnits ?? 0)
  }

  /** State of pools that was not read and that so many hundredths depend on. */
  unknownsOf(count: number): readonly MissingState[] {
    return this.#share(count)?.unknowns ?? []
  }

  #share(count: number): Share | null {
    if (count === 1) return this.#one === undefined ? (this.#one = this.#computed(1)) : this.#one
    const shares = (this.#shares ??= notKnown.slice())
    const known = shares[count]
    return known === undefined ? (shares[count] = this.#computed(count)) : known
  }

  #computed(count: number): Share | null {
    const estimate = estimateAlong(this.edges, this.#exact, (this.#amount * count) / wholeShare)
    if (estimate) return estimate
    const quote = quoteAlong(this.edges, this.#exact, shareOf(this.#amountRaw, count))
    if (!quote) return null
    this.isUncertain ||= quote.unknowns.length > 0
    return { amount: Number(quote.amountRaw), error: floatError, gasUnits: Number(quote.gasUnits), unknowns: quote.unknowns }
  }

  /** The gain of some more hundredths after so many, as worth. Infinitely bad where a pool refuses them. */
  gainOf(more: number, count: number): number {
    if (count + more > wholeShare) return -Infinity
    const before = this.worthOf(count)
    return before === -Infinity ? before : this.worthOf(count + more) - before
  }

  /**
   * At least what `gainBeyond` gives, by few of its hundredths: between two that are known it gains with each no more than with one before them.
   */
  gainAtMost(price: number): number {
    let perHundredth = this.gainOf(1, 0) - price
    if (!(perHundredth > 0)) return 0
    // Where not even the first five gain something, one of them is the last that does.
    const step = this.gainOf(coarseStep, 0) > price * coarseStep ? coarseStep : fineStep
    let [count, gain, most] = [0, 0, 0]
    for (;;) {
      most = Math.max(most, gain + Math.min(step, wholeShare - count) * perHundredth)
      const more = this.gainOf(step, count) - price * step
      if (!(more > 0)) return most
      count += step
      gain += more
      perHundredth = more / step
    }
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
const notKnown: readonly undefined[] = Array.from({ length: wholeShare + 1 }, () => undefined)

export type HasEdges = Pick<Candidate, 'edges'>

export const isSameRoute = (a: readonly PoolEdge[], b: readonly PoolEdge[]): boolean =>
  a.length === b.length && a.every(({ pool }, index) => pool === b[index]?.pool)

/** Whether two routes have no pool in common. */
export function areDisjoint(a: HasEdges, b: HasEdges): boolean {
  for (const { pool } of a.edges) for (const edge of b.edges) if (edge.pool === pool) return false
  return true
}

/** Each share of the amount would be asked of the chain. */
export const isAsked = ({ edges }: HasEdges): boolean => edges.some(({ protocol, pool, passage }) => protocol.asksChain?.(pool, passage))
