import type { KnownTicks } from './known-ticks.ts'
import type { RangePoolState } from './range-pool-state.ts'

/** Whether two states say the same of a pool, of which more ticks may be known in one of them. */
export function sameState(a: RangePoolState, b: RangePoolState): boolean {
  return (
    a.sqrtPriceX96 === b.sqrtPriceX96 &&
    a.tick === b.tick &&
    a.liquidity === b.liquidity &&
    a.fee === b.fee &&
    a.tickSpacing === b.tickSpacing &&
    sameWhereKnown(a.ticks, b.ticks)
  )
}

function sameWhereKnown(a: KnownTicks, b: KnownTicks): boolean {
  const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)]
  const [firstA, firstB] = [a.upTo(from), b.upTo(from)]
  const count = a.upTo(to - 1) - firstA
  // Where they know nothing in common the counts are below nothing.
  if (count !== b.upTo(to - 1) - firstB) return from >= to
  for (let index = 0; index < count; index += 1) {
    const [inA, inB] = [firstA + index, firstB + index]
    if (a.ticks[inA] !== b.ticks[inB]) return false
    if (a.liquidity.gross(inA) !== b.liquidity.gross(inB) || a.liquidity.net(inA) !== b.liquidity.net(inB)) return false
  }
  return true
}
