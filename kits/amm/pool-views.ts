// Pools as people look at them: price, fee, what they hold, and how much can be traded before the price is worse by a percentage.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PoolDepth, PoolView } from '../../core/contracts/index.ts'
import { parseDecimal, rescale } from '../../core/decimal.ts'
import type { Passage, Pool, PoolProtocol } from './protocol.ts'

/** Depth is shown at these. */
const percents = [1, 2] as const
/** Of one turn of the event loop: many pools are computed in many turns. */
const turnMs = 3

interface KnownPool {
  readonly protocol: PoolProtocol
  readonly pool: Pool
}

/** Those of the pools that have both tokens of a passage, once for each such passage. */
export async function viewPools(pools: readonly KnownPool[], passages: readonly Passage[]): Promise<readonly PoolView[]> {
  const views: PoolView[] = []
  let startedAt = performance.now()
  for (const known of pools)
    for (const passage of passages) {
      if (!known.pool.tokens.includes(passage.tokenIn) || !known.pool.tokens.includes(passage.tokenOut)) continue
      views.push(viewPool(known, passage))
      if (performance.now() - startedAt < turnMs) continue
      await nextTurn()
      startedAt = performance.now()
    }
  return views
}

function viewPool({ protocol, pool }: KnownPool, passage: Passage): PoolView {
  const back = { tokenIn: passage.tokenOut, tokenOut: passage.tokenIn }
  const depth = percents.map((percent): PoolDepth => {
    const [sold, bought] = [largestWithin(protocol, pool, passage, percent), largestWithin(protocol, pool, back, percent)]
    return { percent, sellRaw: sold.inRaw, buyRaw: bought.outRaw, ...((sold.atLeast || bought.atLeast) && { atLeast: true }) }
  })
  return {
    pool: pool.address,
    version: protocol.version,
    tokens: pool.tokens,
    ...passage,
    fee: protocol.fee(pool, passage),
    spot: protocol.spot(pool, passage),
    ...protocol.holds?.(pool, passage),
    depth,
  }
}

interface Largest {
  readonly inRaw: bigint
  readonly outRaw: bigint
  /** More may be possible: the state beyond is not known. */
  readonly atLeast: boolean
}

const oneX18 = 10n ** 18n
/** The result is less than the largest amount by 1/1024 of it at most. */
const [factor, halvings, most] = [16n, 14, 2n ** 255n]

/** The largest input whose price is worse than that of the smallest amounts by no more than the percentage. The fee is in both. */
function largestWithin(protocol: PoolProtocol, pool: Pool, passage: Passage, percent: number): Largest {
  const { numerator, denominator } = protocol.spot(pool, passage)
  const { digits, scale } = parseDecimal(protocol.fee(pool, passage))
  const [least, whole] = [numerator * (oneX18 - rescale(digits, scale, 18)) * BigInt(100 - percent), denominator * oneX18 * 100n]
  let [low, outRaw, isUnknown] = [0n, 0n, false]
  /** Whether the pool gives that price for so much. */
  function isWithin(inRaw: bigint): boolean {
    const passed = protocol.pass(pool, passage, 'in', inRaw)
    const isKnown = passed !== undefined && !('missing' in passed)
    if (passed !== undefined && !isKnown) isUnknown = true
    if (!isKnown || passed.amountRaw * whole < inRaw * least) return false
    low = inRaw
    outRaw = passed.amountRaw
    return true
  }
  // Of the smallest amounts nothing comes out, because results are whole units.
  let first = 1n
  while (first < most && !isWithin(first)) first *= factor
  if (low === 0n) return { inRaw: 0n, outRaw: 0n, atLeast: isUnknown }
  isUnknown = false
  let high = low * factor
  while (high < most && isWithin(high)) high *= factor
  for (let round = 0; round < halvings && high - low > 1n; round += 1) {
    const middle = (low + high) / 2n
    if (!isWithin(middle)) high = middle
  }
  return { inRaw: low, outRaw, atLeast: isUnknown }
}
