// What tokens are worth in a reference token, by the pools and order books of one moment. Pure.
import { addressKey } from '../base/addresses.ts'
import type { Fraction } from '../base/decimal.ts'
import type { PoolView, Token } from '../contracts/index.ts'
import { fractionBits, microsOf } from '../transactions/budgets.ts'
import { bookKey, bookPrice, type PricedBook } from './book-price.ts'

const one = 1_000_000n

/** What the sources of one moment say of a token. */
export interface TokenValue {
  /** At least and at most: between the lower and the upper median of the pools that count, and what books add to that. */
  readonly lowX: bigint
  readonly highX: bigint
  /** How many pools, exchanges with books and indexes count. */
  readonly sources: number
}

/** A pool of two tokens. */
export interface PricedPool {
  readonly connector: string
  readonly view: Pick<PoolView, 'pool' | 'tokenIn' | 'tokenOut' | 'spot' | 'depth'>
}

export interface MarketSources {
  readonly pools: readonly PricedPool[]
  readonly books: readonly PricedBook[]
}

export interface ValueTerms {
  readonly reference: Pick<Token, 'address' | 'decimals'>
  /** Tokens that others are traded for: their own value comes from sources with the reference token. */
  readonly between: readonly string[]
  /** What a pool has to take in both directions, within the last of its depths, to count, and a book to have on both sides: millionths of the reference token. */
  readonly minDepthMicros: bigint
  /** Books that counted in the reading before: half of the depth suffices for them. Their makers come and go. */
  readonly keptBooks?: ReadonlySet<string>
}

/** Fewer than this say nothing: one alone can be pushed. */
const minSources = 2
/** Where fewer pools than this say something, and the sources differ by more, nothing is known. In percent. */
const maxDifference = 5n

/** What the sources of one moment say. */
export interface SourceValues {
  /** By address. A token that too few sources with real depth have has no value. */
  readonly values: ReadonlyMap<string, TokenValue>
  /** The pools with real depth, by `poolKey`. */
  readonly deep: ReadonlySet<string>
  /** The books with real depth, by `bookKey`. */
  readonly books: ReadonlySet<string>
}

/** Names a pool: hexadecimal digits may be in upper or lower case. */
export const poolKey = (pool: string): string => addressKey(pool)

type Range = Pick<TokenValue, 'lowX' | 'highX'>
type Values = ReadonlyMap<string, TokenValue>

export function valueTokens({ pools, books }: MarketSources, terms: ValueTerms): SourceValues {
  const { reference, between } = terms
  const unit = (one << fractionBits) / 10n ** BigInt(reference.decimals)
  const values = new Map<string, TokenValue>([[reference.address, { lowX: unit, highX: unit, sources: minSources }]])
  const [deep, deepBooks] = [new Set<string>(), new Set<string>()]
  const poolsOf = byTokenIn(pools.map(({ view }) => view))
  const booksOf = byTokenIn(books)
  // The tokens between first: others are valued by them.
  for (const token of new Set([...between, ...poolsOf.keys(), ...booksOf.keys()])) {
    if (values.has(token)) continue
    const found = deepPools(poolsOf.get(token) ?? [], values, terms)
    const others = sayOfBooks(booksOf.get(token) ?? [], values, terms)
    for (const key of found.keys()) deep.add(key)
    for (const key of others.counted) deepBooks.add(key)
    const value = valueBy([...found.values()], others.ranges)
    if (value) values.set(token, value)
  }
  return { values, deep, books: deepBooks }
}

function byTokenIn<T extends { readonly tokenIn: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const each of all) found.set(each.tokenIn, [...(found.get(each.tokenIn) ?? []), each])
  return found
}

/** What each pool with real depth says of its token. One that two connectors route through counts once. */
function deepPools(pools: readonly PricedPool['view'][], values: Values, { minDepthMicros }: ValueTerms) {
  const found = new Map<string, Range>()
  for (const { pool, tokenOut, spot, depth } of pools) {
    const other = values.get(tokenOut)
    const deepest = depth.at(-1)
    if (!other || !deepest || spot.numerator <= 0n || spot.denominator <= 0n) continue
    const range = rangeAt(spot, other)
    const takesRaw = deepest.sellRaw < deepest.buyRaw ? deepest.sellRaw : deepest.buyRaw
    if (microsOf(takesRaw, range.lowX, 'down') >= minDepthMicros) found.set(poolKey(pool), range)
  }
  return found
}

/** What the books say of their token. All of an exchange count once, since who fakes one can fake the others, and so do its indexes. */
function sayOfBooks(books: readonly PricedBook[], values: Values, { minDepthMicros, keptBooks }: ValueTerms) {
  const ranges = new Map<string, Range>()
  const counted: string[] = []
  const add = (source: string, range: Range) => {
    const known = ranges.get(source)
    ranges.set(source, known ? widest([known, range]) : range)
  }
  for (const book of books) {
    const other = values.get(book.tokenOut)
    if (!other || other.lowX <= 0n) continue
    const neededMicros = keptBooks?.has(bookKey(book)) ? minDepthMicros / 2n : minDepthMicros
    const price = bookPrice(book, ((neededMicros << fractionBits) + other.lowX - 1n) / other.lowX)
    if (!price) continue
    counted.push(bookKey(book))
    add(book.connector, rangeAt(price, other))
    // Of a book without depth nobody can buy at the index.
    if (book.index) add(`index of ${book.connector}`, rangeAt(book.index, other))
  }
  return { ranges: [...ranges.values()], counted }
}

const rangeAt = ({ numerator, denominator }: Fraction, { lowX, highX }: Range): Range => ({
  lowX: (numerator * lowX) / denominator,
  highX: (numerator * highX + denominator - 1n) / denominator,
})

/**
 * Two pools suffice. Books can be made up for less than pools, so they never make the value nearer to a price than the pools alone do. Without two
 * pools no source outvotes another: all have to be near to each other, and the worst of them counts.
 */
function valueBy(pools: readonly Range[], others: readonly Range[]): TokenValue | undefined {
  const all = [...pools, ...others]
  if (all.length < minSources) return undefined
  if (pools.length >= minSources) return { ...widest([medianOf(pools), medianOf(all)]), sources: all.length }
  const { lowX, highX } = widest(all)
  return (highX - lowX) * 100n > lowX * maxDifference ? undefined : { lowX, highX, sources: all.length }
}

const widest = (ranges: readonly Range[]): Range => ({
  lowX: sortedBy(ranges, 'lowX')[0] ?? 0n,
  highX: sortedBy(ranges, 'highX').at(-1) ?? 0n,
})

const medianOf = (of: readonly Range[]): Range => ({
  lowX: sortedBy(of, 'lowX')[(of.length - 1) >> 1] ?? 0n,
  highX: sortedBy(of, 'highX')[of.length >> 1] ?? 0n,
})

const sortedBy = (of: readonly Range[], key: keyof Range) => ascending(of.map((each) => each[key]))

const ascending = (numbers: readonly bigint[]): readonly bigint[] => numbers.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))

/** One moment's values of a network's tokens. */
export interface ValueSample extends SourceValues {
  /** Milliseconds by a clock that is never set. */
  readonly atMs: number
}

/** Whether a token counts at most or at least. */
export type ValueBound = 'lowX' | 'highX'

/** Of the moments in which the token had a value. Undefined where it never had one, or lacked it too often since. */
export function medianValue(token: string, samples: readonly Pick<ValueSample, 'values'>[], bound: ValueBound): bigint | undefined {
  const said = samples.map(({ values }) => values.get(token)?.[bound])
  const sorted = ascending(said.flatMap((value) => value ?? []))
  const first = said.findIndex((value) => value !== undefined)
  if (first === -1 || lackingReadings(sorted.length, said.length - first) > 0) return undefined
  return sorted[(bound === 'highX' ? sorted.length : sorted.length - 1) >> 1]
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
 * Holds an exchange against the market of now and of the last minutes: whoever pushes the sources for a moment moves the first and not the second.
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
  const sorted = ascending(valued.priced.map(({ givenMicros }) => givenMicros))
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
  const said = samples.map((sample) => ({ atMs: sample.atMs, value: exchangeValue(exchanged, sample) }))
  const since = said.slice(said.findIndex(({ value }) => value !== undefined))
  const priced = since.flatMap(({ value }) => value ?? [])
  const now = priced.at(-1)
  if (!now) return { is: 'no market', tokens }
  const heldMs = since.reduce((sum, { atMs, value }, index) => {
    const before = since[index - 1]
    return before?.value && value ? sum + Math.min(atMs - before.atMs, maxGapMs) : sum
  }, 0)
  const betweenMs = (newest.atMs - (since[0]?.atMs ?? newest.atMs)) / Math.max(since.length - 1, 1)
  const leftMs = Math.max(windowMs - heldMs, lackingReadings(priced.length, since.length) * betweenMs)
  return leftMs > 0 ? { is: 'too short', leftMs } : { is: 'priced', now, priced }
}

/** Of a longer time between two readings no more counts as read. */
const maxGapMs = 60_000

/**
 * How many more readings with a value it takes until three of four have one. Whoever can take the value away, by its own liquidity, could otherwise
 * have it read only while it is pushed.
 */
const lackingReadings = (priced: number, all: number): number => Math.max(0, 3 * all - 4 * priced)

const ceilDivide = (a: bigint, b: bigint): bigint => (a > 0n ? (a + b - 1n) / b : a / b)
