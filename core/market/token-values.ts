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

export const ascending = (numbers: readonly bigint[]): readonly bigint[] => numbers.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
