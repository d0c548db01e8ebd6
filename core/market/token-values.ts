// What tokens are worth in a reference token, by the pools of one moment. Pure.
import { addressKey } from '../base/addresses.ts'
import type { PoolView, Token } from '../contracts/index.ts'
import { fractionBits, microsOf } from '../transactions/budgets.ts'

const one = 1_000_000n

/** What the pools of one moment say of a token. */
export interface TokenValue {
  /** The lower and the upper median of all pools that count. */
  readonly lowX: bigint
  readonly highX: bigint
  /** How many pools count. */
  readonly pools: number
}

/** A pool of two tokens. */
export interface PricedPool {
  readonly connector: string
  readonly view: Pick<PoolView, 'pool' | 'tokenIn' | 'tokenOut' | 'spot' | 'depth'>
}

export interface ValueTerms {
  readonly reference: Pick<Token, 'address' | 'decimals'>
  /** Tokens that others are traded for: their own value comes from pools with the reference token. */
  readonly between: readonly string[]
  /** What a pool has to take in both directions, within the last of its depths, to count: millionths of the reference token. */
  readonly minDepthMicros: bigint
}

/** Fewer than this say nothing: one alone can be pushed. */
const minPools = 2

/** What the pools of one moment say. */
export interface PoolValues {
  /** By address. A token that too few pools with real depth have has no value. */
  readonly values: ReadonlyMap<string, TokenValue>
  /** The pools with real depth, by `poolKey`. */
  readonly deep: ReadonlySet<string>
}

/** Names a pool: hexadecimal digits may be in upper or lower case. */
export const poolKey = (pool: string): string => addressKey(pool)

export function valueTokens(pools: readonly PricedPool[], terms: ValueTerms): PoolValues {
  const { reference, between } = terms
  const unit = (one << fractionBits) / 10n ** BigInt(reference.decimals)
  const values = new Map<string, TokenValue>([[reference.address, { lowX: unit, highX: unit, pools: minPools }]])
  const deep = new Set<string>()
  const byToken = new Map<string, PoolOfToken[]>()
  for (const { view } of pools) byToken.set(view.tokenIn, [...(byToken.get(view.tokenIn) ?? []), view])
  // The tokens between first: others are valued by them.
  for (const token of new Set([...between, ...byToken.keys()])) {
    if (values.has(token)) continue
    const found = deepPools(byToken.get(token) ?? [], values, terms)
    for (const key of found.keys()) deep.add(key)
    const value = medianOf([...found.values()])
    if (value) values.set(token, value)
  }
  return { values, deep }
}

type PoolOfToken = PricedPool['view']

/** What each pool with real depth says of its token. One that two connectors route through counts once. */
function deepPools(pools: readonly PoolOfToken[], values: ReadonlyMap<string, TokenValue>, { minDepthMicros }: ValueTerms) {
  const found = new Map<string, { lowX: bigint; highX: bigint }>()
  for (const { pool, tokenOut, spot, depth } of pools) {
    const other = values.get(tokenOut)
    const { numerator, denominator } = spot
    const deepest = depth.at(-1)
    if (!other || !deepest || numerator <= 0n || denominator <= 0n) continue
    const [lowX, highX] = [(numerator * other.lowX) / denominator, (numerator * other.highX + denominator - 1n) / denominator]
    const takesRaw = deepest.sellRaw < deepest.buyRaw ? deepest.sellRaw : deepest.buyRaw
    if (microsOf(takesRaw, lowX, 'down') >= minDepthMicros) found.set(poolKey(pool), { lowX, highX })
  }
  return found
}

function medianOf(of: readonly { lowX: bigint; highX: bigint }[]): TokenValue | undefined {
  if (of.length < minPools) return undefined
  const sorted = (key: 'lowX' | 'highX') => of.map((each) => each[key]).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const lowX = sorted('lowX')[(of.length - 1) >> 1]
  const highX = sorted('highX')[of.length >> 1]
  return lowX === undefined || highX === undefined ? undefined : { lowX, highX, pools: of.length }
}

/** One moment's values of a network's tokens. */
export interface ValueSample extends PoolValues {
  /** Milliseconds by a clock that is never set. */
  readonly atMs: number
}

/** Between the medians of the pools. */
export const middleOf = ({ lowX, highX }: TokenValue): bigint => (lowX + highX) / 2n

/** Of the moments in which the token had a value. Undefined where it never had one. */
export function medianValue(token: string, samples: readonly Pick<ValueSample, 'values'>[]): bigint | undefined {
  const sorted = samples
    .flatMap(({ values }) => values.get(token) ?? [])
    .map(middleOf)
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[(sorted.length - 1) >> 1]
}

/** What a wallet gives and gets, by token address, in smallest units. */
export interface ExchangedAmounts {
  readonly gives: Readonly<Record<string, bigint>>
  readonly gets: Readonly<Record<string, bigint>>
}

/** An exchange at one moment's values, in millionths of the reference token. */
interface ExchangeValue {
  readonly givenMicros: bigint
  readonly gotMicros: bigint
}

/** Undefined where a token has no value then. What is given counts at the upper median, what comes at the lower one. */
function exchangeValue({ gives, gets }: ExchangedAmounts, { values }: Pick<ValueSample, 'values'>): ExchangeValue | undefined {
  const sum = (amounts: Readonly<Record<string, bigint>>, key: 'lowX' | 'highX', rounding: 'up' | 'down') => {
    let total = 0n
    for (const [token, raw] of Object.entries(amounts)) {
      const value = values.get(token)
      if (!value) return undefined
      total += microsOf(raw, value[key], rounding)
    }
    return total
  }
  const [givenMicros, gotMicros] = [sum(gives, 'highX', 'up'), sum(gets, 'lowX', 'down')]
  return givenMicros === undefined || gotMicros === undefined ? undefined : { givenMicros, gotMicros }
}

export type Comparison =
  /** `lost`: the worse of now and the median of the window. */
  | { readonly is: 'priced'; readonly givenMicros: bigint; readonly lostMicros: bigint }
  /** Some of the tokens have no market now. */
  | { readonly is: 'no market'; readonly tokens: readonly string[] }
  /** They have one, and not for long enough. */
  | { readonly is: 'too short'; readonly leftMs: number }

/**
 * Holds an exchange against the market of now and of the last minutes: whoever pushes the pools for a moment moves the first and not the second.
 * @param samples oldest first, with the newest of now
 * @param windowMs how long the tokens need to have had a market
 */
export function compareExchange(exchanged: ExchangedAmounts, samples: readonly ValueSample[], windowMs: number): Comparison {
  const valued = valueSamples(exchanged, samples, windowMs)
  if (valued.is !== 'priced') return valued
  const { now, priced } = valued
  // By share of what is given: the values of all tokens may have moved together.
  const sorted = priced.toSorted((a, b) => (a.gotMicros * b.givenMicros < b.gotMicros * a.givenMicros ? -1 : 1))
  const median = sorted[(sorted.length - 1) >> 1] ?? now
  const lost = ({ givenMicros, gotMicros }: ExchangeValue) => givenMicros - gotMicros
  // The median's share, at the value of now; rounded up.
  const byMedian = median.givenMicros === 0n ? lost(median) : ceilDivide(lost(median) * now.givenMicros, median.givenMicros)
  return { is: 'priced', givenMicros: now.givenMicros, lostMicros: byMedian > lost(now) ? byMedian : lost(now) }
}

/**
 * What is given, in millionths of the reference token: by now or by the median of the window, whichever is more. So a rise counts at once, and a fall once
 * it has lasted for half of the window.
 */
export function valueGiven(gives: ExchangedAmounts['gives'], samples: readonly ValueSample[], windowMs: number): Valuation {
  const valued = valueSamples({ gives, gets: {} }, samples, windowMs)
  if (valued.is !== 'priced') return valued
  const sorted = valued.priced.map(({ givenMicros }) => givenMicros).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const median = sorted[sorted.length >> 1] ?? 0n
  const now = valued.now.givenMicros
  return { is: 'priced', micros: now > median ? now : median }
}

export type Valuation = { readonly is: 'priced'; readonly micros: bigint } | Exclude<Comparison, { is: 'priced' }>

type ValuedSamples =
  | { readonly is: 'priced'; readonly now: ExchangeValue; readonly priced: readonly ExchangeValue[] }
  | Exclude<Comparison, { is: 'priced' }>

/** An exchange at each moment of the window. */
function valueSamples(exchanged: ExchangedAmounts, samples: readonly ValueSample[], windowMs: number): ValuedSamples {
  const tokens = [...new Set([...Object.keys(exchanged.gives), ...Object.keys(exchanged.gets)])]
  const newest = samples.at(-1)
  const missing = tokens.filter((token) => !newest?.values.has(token))
  if (!newest || missing.length > 0) return { is: 'no market', tokens: newest ? missing : tokens }
  const priced = samples.flatMap((sample) => {
    const value = exchangeValue(exchanged, sample)
    return value ? [{ atMs: sample.atMs, ...value }] : []
  })
  const now = priced.at(-1)
  const heldMs = newest.atMs - (priced[0]?.atMs ?? newest.atMs)
  if (!now) return { is: 'no market', tokens }
  return heldMs < windowMs ? { is: 'too short', leftMs: windowMs - heldMs } : { is: 'priced', now, priced }
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a > 0n ? (a + b - 1n) / b : a / b)
