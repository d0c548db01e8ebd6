import type { Passed, PoolProtocol } from '../../../../kits/amm/protocol.ts'
import type { Lane } from '../../../../kits/amm/routing/graph.ts'

/** A pool of which more must be known. */
export interface Wanted {
  readonly protocol: PoolProtocol
  /** Its address. */
  readonly pool: string
  readonly missing: unknown
}

/** A way that has been gone, with what came of the amount at its end. */
export interface Arrival {
  readonly amountRaw: bigint
  /** Of the pools. */
  readonly gasUnits: bigint
  /** As of a pass. */
  readonly firstWriteUnits: bigint
  /** In the order in which the tokens go. */
  readonly lanes: readonly Lane[]
  /** What must be known of its pools; until then the amount is what it could be at best. */
  readonly doubts: readonly Wanted[]
  /** The way that it goes on from. */
  readonly from?: Arrival
}

/** A way and one more lane: behind it, or before it where an exact amount out is followed from its end. */
export function goneOn(way: Arrival, lane: Lane, passed: Passed, doubts: readonly Wanted[], exact: 'in' | 'out'): Arrival {
  return {
    amountRaw: passed.amountRaw,
    gasUnits: way.gasUnits + passed.gasUnits,
    firstWriteUnits: way.firstWriteUnits + (passed.firstWriteUnits ?? 0n),
    lanes: exact === 'in' ? [...way.lanes, lane] : [lane, ...way.lanes],
    doubts,
    from: way,
  }
}

/** More out, or less in, or the same. */
const noWorse = (aRaw: bigint, bRaw: bigint, exact: 'in' | 'out') => (exact === 'in' ? aRaw >= bRaw : aRaw <= bRaw)

/**
 * Those to the same token than which no other is as good beyond doubt, takes as little gas where that costs anything, and leaves as many
 * pools to go on through: a pool of more than two tokens could be met again, and must not be, since its second pass would find another
 * state than was read.
 */
export class Foremost {
  readonly #exact: 'in' | 'out'
  readonly #isGasFree: boolean
  readonly #behind = new Map<Arrival, Arrival[]>()
  readonly #refused = new Set<Arrival>()

  constructor(exact: 'in' | 'out', isGasFree: boolean) {
    this.#exact = exact
    this.#isGasFree = isGasFree
  }

  of(arrivals: readonly Arrival[]): readonly Arrival[] {
    const kept: Arrival[] = []
    for (const arrival of arrivals) {
      const better = kept.find((other) => this.#dominates(other, arrival))
      if (better) {
        this.#putBehind(better, arrival)
        continue
      }
      for (let index = kept.length - 1; index >= 0; index -= 1) {
        const other = kept[index]
        if (!other || !this.#dominates(arrival, other)) continue
        kept.splice(index, 1)
        this.#putBehind(arrival, other)
      }
      kept.push(arrival)
    }
    return kept
  }

  /** Of one that brings too much for a pool: those that bring less, and were left out for it. From now on none is. */
  refused(arrival: Arrival): readonly Arrival[] {
    this.#refused.add(arrival)
    return this.#behind.get(arrival) ?? []
  }

  #putBehind(better: Arrival, worse: Arrival): void {
    const behind = this.#behind.get(better)
    if (behind) behind.push(worse)
    else this.#behind.set(better, [worse])
  }

  #dominates(a: Arrival, b: Arrival): boolean {
    return (
      a.doubts.length === 0 &&
      !this.#refused.has(a) &&
      noWorse(a.amountRaw, b.amountRaw, this.#exact) &&
      // That a way in doubt may be cheaper is no reason to read on.
      (this.#isGasFree || b.doubts.length > 0 || a.gasUnits <= b.gasUnits) &&
      a.lanes.every(({ pool }) => pool.tokens.length === 2 || passes(b, pool.address))
    )
  }
}

export const passes = ({ lanes }: Arrival, pool: string) => lanes.some((lane) => lane.pool.address === pool)
