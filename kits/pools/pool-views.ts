// Pools as people look at them: price, fee, what they hold, and how much can be traded before the price is worse by so much.
import type { At, PoolDepth, PoolsChoice, PoolView } from '../../core/contracts/index.ts'
import { parseDecimal, rescale, squareRoot } from '../../core/base/decimal.ts'
import { DeepestPools } from '../../core/base/deepest-pools.ts'
import { inTurns } from '../../core/base/fair-turns.ts'
import type { KnownPool, Passage, Pool, PoolMath } from './protocol.ts'
import { isSameAddress } from '../../core/base/addresses.ts'

/** The deepest of the pools that have both tokens of a passage and a price, once for each such passage, the deepest first. */
export async function viewPools(
  pools: readonly KnownPool[],
  passages: readonly Passage[],
  { depths, most, version, pool }: PoolsChoice,
  at: Partial<At> = {},
): Promise<readonly PoolView[]> {
  // Of many pools few are shown. To keep all views would fill the memory, which the collector then copies.
  const deepest = new DeepestPools<PoolView>(most, (view) => view)
  const byTokens = new Map<string, Map<string, Passage>>()
  for (const passage of passages) {
    const ofTokenIn = byTokens.get(passage.tokenIn) ?? new Map<string, Passage>()
    byTokens.set(passage.tokenIn, ofTokenIn.set(passage.tokenOut, passage))
  }
  await inTurns(
    pools,
    (known) => {
      const { tokens, address } = known.pool
      if (version !== undefined && known.protocol.version !== version) return
      if (pool !== undefined && !isSameAddress(address, pool)) return
      for (const token of tokens) {
        const ofToken = byTokens.get(token)
        if (!ofToken) continue
        for (const other of tokens) {
          const passage = ofToken.get(other)
          const view = passage && knownView(known, passage, depths)
          if (view && view.spot.denominator !== 0n) deepest.add(view)
        }
      }
    },
    at,
  )
  return deepest.kept
}

/** By pool: what was shown of it last. A pool object stays the same until its state changes. */
const lastViews = new WeakMap<Pool, LastView[]>()
/** Of one pool: both ways, by two lists of depths. */
const mostLast = 4

interface LastView {
  readonly depths: readonly number[]
  readonly view: PoolView
}

/** The depth is searched for once for each state of a pool: it takes longer than all else. */
function knownView(known: KnownPool, passage: Passage, depths: readonly number[]): PoolView {
  const last = lastViews.get(known.pool) ?? []
  for (const { depths: ofLast, view } of last)
    if (view.tokenIn === passage.tokenIn && view.tokenOut === passage.tokenOut && isSameList(ofLast, depths)) return view
  const view = viewPool(known, passage, depths)
  lastViews.set(known.pool, [...last, { depths, view }].slice(-mostLast))
  return view
}

const isSameList = (one: readonly number[], other: readonly number[]): boolean =>
  one === other || (one.length === other.length && one.every((each, index) => each === other[index]))

function viewPool({ protocol, pool }: KnownPool, passage: Passage, depths: readonly number[]): PoolView {
  const back = { tokenIn: passage.tokenOut, tokenOut: passage.tokenIn }
  /** An amount, and how many basis points it moves the price. */
  let [sellGuess, buyGuess, reached] = [guessOf(protocol, pool, passage), guessOf(protocol, pool, back), 100]
  const depth = depths.map((basisPoints): PoolDepth => {
    // Two percent are about twice as far as one.
    const scaled = (guess: bigint) => (guess * BigInt(basisPoints)) / BigInt(reached)
    const sold = largestWithin(protocol, pool, passage, basisPoints, scaled(sellGuess))
    const bought = largestWithin(protocol, pool, back, basisPoints, scaled(buyGuess))
    ;[sellGuess, buyGuess, reached] = [sold.inRaw, bought.inRaw, basisPoints]
    return { basisPoints, sellRaw: sold.inRaw, buyRaw: bought.outRaw, ...((sold.atLeast || bought.atLeast) && { atLeast: true }) }
  })
  const noLiquidityFor = [
    ...(protocol.mostIn?.(pool, passage) === 0n ? (['SELL'] as const) : []),
    ...(protocol.mostIn?.(pool, back) === 0n ? (['BUY'] as const) : []),
  ]
  return {
    pool: pool.address,
    version: protocol.version,
    tokens: pool.tokens,
    ...passage,
    fee: protocol.fee(pool, passage),
    spot: protocol.spot(pool, passage),
    ...protocol.holds?.(pool, passage),
    ...(noLiquidityFor.length > 0 && { noLiquidityFor }),
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
const wholePoints = 10_000
/** The result is less than the largest amount by a part of it that is this small at most. */
const precision = 1024n
/** Where nothing is known of a pool: from the smallest amount on by this factor, to this amount. */
const [factor, most] = [16n, 2n ** 255n]
/** So often a first amount that was too large is halved. */
const mostHalvings = 16

/**
 * The largest input whose price is worse than that of the smallest amounts by no more than so many basis points. The fee is in both.
 * @param guess where to begin; 0 where nothing is known
 */
function largestWithin(protocol: PoolMath, pool: Pool, passage: Passage, basisPoints: number, guess: bigint): Largest {
  const { numerator, denominator } = protocol.spot(pool, passage)
  const { digits, scale } = parseDecimal(protocol.fee(pool, passage))
  const [least, whole] = [
    numerator * (oneX18 - rescale(digits, scale, 18)) * BigInt(wholePoints - basisPoints),
    denominator * oneX18 * BigInt(wholePoints),
  ]
  let [low, outRaw, high, isUnknown] = [0n, 0n, most, false]
  /** Whether the pool gives that price for so much. */
  function isWithin(inRaw: bigint): boolean {
    const passed = protocol.curve ? protocol.curve(pool, passage, 'in', inRaw) : protocol.pass(pool, passage, 'in', inRaw)
    const isKnown = passed !== undefined && !('missing' in passed)
    if (!isKnown || passed.amountRaw * whole < inRaw * least) {
      high = inRaw
      isUnknown = passed !== undefined && !isKnown
      return false
    }
    low = inRaw
    outRaw = passed.amountRaw
    return true
  }
  if (guess > 0n && !isWithin(guess))
    for (let halved = guess / 2n, count = 0; halved > 0n && count < mostHalvings && !isWithin(halved); count += 1) halved /= 2n
  if (low === 0n) {
    // Of the smallest amounts nothing comes out, because results are whole units.
    const [failed, wasUnknown] = [high, isUnknown]
    for (let first = 1n; first < failed && !isWithin(first);) first *= factor
    if (low === 0n) return { inRaw: 0n, outRaw: 0n, atLeast: isUnknown || wasUnknown }
    high = failed
    isUnknown = wasUnknown
  }
  const growth = guess > 0n ? 2n : factor
  while (high === most && low < most / growth && isWithin(low * growth));
  while (high - low > 1n && (high - low) * precision > high) isWithin((low + high) / 2n)
  return { inRaw: low, outRaw, atLeast: isUnknown }
}

/** About as much as takes the price a percent further, where the pool says what it has. */
function guessOf(protocol: PoolMath, pool: Pool, passage: Passage): bigint {
  const held = protocol.holds?.(pool, passage)
  if (held === undefined) return 0n
  if ('reserveInRaw' in held) return held.reserveInRaw / 256n
  // A reserve that has this liquidity at the price.
  const { numerator, denominator } = protocol.spot(pool, passage)
  return numerator > 0n ? squareRoot((held.liquidityRaw * held.liquidityRaw * denominator) / numerator, 'down') / 256n : 0n
}
