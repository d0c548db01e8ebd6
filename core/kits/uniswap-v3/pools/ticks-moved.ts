import { KnownTicks, countUpTo, type TickLiquidity } from './known-ticks.ts'

/**
 * The ticks after a position between two of them was given more liquidity, or less: Tick.update of @uniswap/v3-core@1.0.1. What is not
 * known of them stays so, and what did not change is shared. Undefined where there was less than is taken: then these are not the pool's.
 */
export function ticksMoved(known: KnownTicks, lower: number, upper: number, liquidity: bigint): KnownTicks | undefined {
  if (!known.knows(lower) && !known.knows(upper)) return known
  const table: Table = { ticks: known.ticks, atTicks: ListedLiquidity.listOf(known) }
  if (known.knows(lower) && !moveTick(table, lower, liquidity, liquidity)) return undefined
  if (known.knows(upper) && !moveTick(table, upper, liquidity, -liquidity)) return undefined
  return new KnownTicks(known.from, known.to, table.ticks, new ListedLiquidity(table.atTicks), known.gone)
}

interface Table {
  /** Another list where one begins or ends to be initialised. */
  ticks: readonly number[]
  readonly atTicks: AtTick[]
}

/** At one tick, of all positions that begin or end there. */
interface AtTick {
  readonly gross: bigint
  readonly net: bigint
}

/** Whether there was as much as is taken. */
function moveTick(table: Table, tick: number, liquidity: bigint, net: bigint): boolean {
  const { ticks, atTicks } = table
  const after = countUpTo(ticks, tick)
  const isThere = ticks[after - 1] === tick
  const index = isThere ? after - 1 : after
  const before = isThere ? atTicks[index] : undefined
  const gross = (before?.gross ?? 0n) + liquidity
  if (gross < 0n) return false
  const now: AtTick = { gross, net: (before?.net ?? 0n) + net }
  if (!isThere) {
    table.ticks = ticks.toSpliced(index, 0, tick)
    atTicks.splice(index, 0, now)
  } else if (gross === 0n) {
    table.ticks = ticks.toSpliced(index, 1)
    atTicks.splice(index, 1)
  } else atTicks[index] = now
  return true
}

class ListedLiquidity implements TickLiquidity {
  readonly #atTicks: readonly AtTick[]

  constructor(atTicks: readonly AtTick[]) {
    this.#atTicks = atTicks
  }

  /** A copy, to be changed. */
  static listOf({ ticks, liquidity }: KnownTicks): AtTick[] {
    if (liquidity instanceof ListedLiquidity) return liquidity.#atTicks.slice()
    return ticks.map((_, index) => ({ gross: liquidity.gross(index), net: liquidity.net(index) }))
  }

  gross(index: number): bigint {
    return this.#atTicks[index]?.gross ?? 0n
  }

  net(index: number): bigint {
    return this.#atTicks[index]?.net ?? 0n
  }
}
