import { KnownTicks, countUpTo, type TickLiquidity } from './known-ticks.ts'

/**
 * The ticks after a position between two of them was given more liquidity, or less: Tick.update of @uniswap/v3-core@1.0.1. What is not
 * known of them stays so. Undefined where there was less than is taken: then these are not the pool's.
 */
export function ticksMoved(known: KnownTicks, lower: number, upper: number, liquidity: bigint): KnownTicks | undefined {
  if (!known.knows(lower) && !known.knows(upper)) return known
  const { grosses, nets } = ListedLiquidity.of(known)
  const moved: Columns = { ticks: known.ticks.slice(), grosses, nets }
  if (known.knows(lower) && !moveTick(moved, lower, liquidity, liquidity)) return undefined
  if (known.knows(upper) && !moveTick(moved, upper, liquidity, -liquidity)) return undefined
  return new KnownTicks(known.from, known.to, moved.ticks, new ListedLiquidity(moved.grosses, moved.nets), known.gone)
}

interface Columns {
  readonly ticks: number[]
  readonly grosses: bigint[]
  readonly nets: bigint[]
}

/** Whether there was as much as is taken. */
function moveTick({ ticks, grosses, nets }: Columns, tick: number, liquidity: bigint, net: bigint): boolean {
  const after = countUpTo(ticks, tick)
  const isThere = ticks[after - 1] === tick
  const index = isThere ? after - 1 : after
  const gross = (isThere ? (grosses[index] ?? 0n) : 0n) + liquidity
  if (gross < 0n) return false
  if (!isThere) {
    ticks.splice(index, 0, tick)
    grosses.splice(index, 0, gross)
    nets.splice(index, 0, net)
  } else if (gross === 0n) {
    ticks.splice(index, 1)
    grosses.splice(index, 1)
    nets.splice(index, 1)
  } else {
    grosses[index] = gross
    nets[index] = (nets[index] ?? 0n) + net
  }
  return true
}

class ListedLiquidity implements TickLiquidity {
  readonly grosses: bigint[]
  readonly nets: bigint[]

  constructor(grosses: bigint[], nets: bigint[]) {
    this.grosses = grosses
    this.nets = nets
  }

  /** A copy, to be changed. */
  static of({ ticks, liquidity }: KnownTicks): ListedLiquidity {
    if (liquidity instanceof ListedLiquidity) return new ListedLiquidity(liquidity.grosses.slice(), liquidity.nets.slice())
    return new ListedLiquidity(
      ticks.map((_, index) => liquidity.gross(index)),
      ticks.map((_, index) => liquidity.net(index)),
    )
  }

  gross(index: number): bigint {
    return this.grosses[index] ?? 0n
  }

  net(index: number): bigint {
    return this.nets[index] ?? 0n
  }
}
