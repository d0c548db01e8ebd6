// What an exchange loses against the market of now and of the last minutes, and what is given is worth. Pure.
import { microsOf } from '../transactions/budgets.ts'
import { ascending, type SourceValues } from './token-values.ts'

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

/** At a moment in which all tokens have a value. What is given counts at the upper median, what comes at the lower one. */
function exchangeValue({ gives, gets }: ExchangedAmounts, sample: ValueSample): ExchangeValue {
  const sum = (amounts: Readonly<Record<string, bigint>>, bound: ValueBound, rounding: 'up' | 'down') =>
    Object.entries(amounts).reduce((total, [token, raw]) => total + microsOf(raw, valueIn(sample, token, bound), rounding), 0n)
  return { givenMicros: sum(gives, 'highX', 'up'), gotMicros: sum(gets, 'lowX', 'down') }
}

function valueIn({ values }: ValueSample, token: string, bound: ValueBound): bigint {
  const value = values.get(token)
  if (!value) throw new Error(`The token ${token} has no value at that moment.`)
  return value[bound]
}

interface PricedComparison {
  readonly is: 'priced'
  /** By the values of now. */
  readonly givenMicros: bigint
  /** The worse of now and the median of the window, as a part of what is given now. */
  readonly lostMicros: bigint
  /** By now or by the median of the window, whichever is more: a price that is pushed down makes nothing smaller that counts. */
  readonly mostGivenMicros: bigint
  /** The same part of that. A gain is that of now. */
  readonly mostLostMicros: bigint
}

export type Comparison =
  | PricedComparison
  /** Some of the tokens have no market now. */
  | { readonly is: 'no market'; readonly tokens: readonly string[] }
  /** They have one, and not for long enough. */
  | { readonly is: 'too short'; readonly leftMs: number }
  /** Some of the tokens have had one for less than a day. */
  | { readonly is: 'too new'; readonly tokens: readonly string[]; readonly leftMs: number }

/**
 * Holds an exchange against the market of now and of the last minutes: whoever pushes the sources for a moment moves the first and not the second.
 * @param samples oldest first, with the newest of now; never changed, since what does not depend on amounts is computed once for them
 * @param windowMs how long the tokens need to have had a market
 */
export function compareExchange(exchanged: ExchangedAmounts, samples: readonly ValueSample[], windowMs: number): Comparison {
  const market = marketOf(exchanged, samples, windowMs)
  if (market.is !== 'priced') return market
  const [now, median] = [exchangeValue(exchanged, market.now), exchangeValue(exchanged, medianShare(exchanged, market))]
  const lost = ({ givenMicros, gotMicros }: ExchangeValue) => givenMicros - gotMicros
  const lostOf = (ofMicros: bigint): bigint => {
    // The median's share, at that value; rounded up.
    const byMedian = median.givenMicros === 0n ? lost(median) : ceilDivide(lost(median) * ofMicros, median.givenMicros)
    const byNow = ofMicros === now.givenMicros ? lost(now) : ceilDivide(lost(now) * ofMicros, now.givenMicros)
    return byMedian > byNow ? byMedian : byNow
  }
  const lostMicros = lostOf(now.givenMicros)
  const medianMicros = now.givenMicros === 0n ? 0n : medianGiven(exchanged, market)
  const mostGivenMicros = medianMicros > now.givenMicros ? medianMicros : now.givenMicros
  const mostLostMicros = lostMicros > 0n ? lostOf(mostGivenMicros) : lostMicros
  return { is: 'priced', givenMicros: now.givenMicros, lostMicros, mostGivenMicros, mostLostMicros }
}

/** The moment at whose values the share that is got of what is given is the median: the values of all tokens may have moved together. */
function medianShare(exchanged: ExchangedAmounts, { priced, medians, now }: PricedMarket): ValueSample {
  const [[given, ...moreGiven], [got, ...moreGot]] = [Object.keys(exchanged.gives), Object.keys(exchanged.gets)]
  if (given === undefined || got === undefined || moreGiven.length > 0 || moreGot.length > 0) {
    const valued = priced.map((sample) => ({ sample, value: exchangeValue(exchanged, sample) }))
    const sorted = valued.toSorted((a, b) => byShare([a.value.gotMicros, a.value.givenMicros], [b.value.gotMicros, b.value.givenMicros]))
    return middleOf(sorted)?.sample ?? now
  }
  // Of one token for another it is the same moment for all amounts.
  const key = `${given} ${got}`
  const values = (sample: ValueSample) => [valueIn(sample, got, 'lowX'), valueIn(sample, given, 'highX')] as const
  const known = medians.get(key) ?? middleOf(priced.toSorted((a, b) => byShare(values(a), values(b)))) ?? now
  medians.set(key, known)
  return known
}

type Share = readonly [part: bigint, of: bigint]
const byShare = ([part, of]: Share, [otherPart, otherOf]: Share): number => {
  const [one, other] = [part * otherOf, otherPart * of]
  return one < other ? -1 : one > other ? 1 : 0
}

const middleOf = <T>(sorted: readonly T[]): T | undefined => sorted[(sorted.length - 1) >> 1]

/**
 * What is given, in millionths of the reference token: by now or by the median of the window, whichever is more. So a rise counts at once, and a fall once
 * it has lasted for half of the window.
 */
export function valueGiven(gives: ExchangedAmounts['gives'], samples: readonly ValueSample[], windowMs: number): Valuation {
  const exchanged = { gives, gets: {} }
  const market = marketOf(exchanged, samples, windowMs)
  if (market.is !== 'priced') return market
  const [now, median] = [exchangeValue(exchanged, market.now).givenMicros, medianGiven(exchanged, market)]
  return { is: 'priced', micros: now > median ? now : median }
}

function medianGiven(exchanged: ExchangedAmounts, { priced, medians, now }: PricedMarket): bigint {
  const [[given, ...more], givenAt] = [Object.keys(exchanged.gives), (sample: ValueSample) => exchangeValue(exchanged, sample).givenMicros]
  const upper = <T>(sorted: readonly T[]) => sorted[sorted.length >> 1]
  if (given === undefined || more.length > 0) return upper(ascending(priced.map(givenAt))) ?? 0n
  const valueX = (sample: ValueSample) => valueIn(sample, given, 'highX')
  const known = medians.get(given) ?? upper(priced.toSorted((a, b) => (valueX(a) < valueX(b) ? -1 : valueX(a) > valueX(b) ? 1 : 0))) ?? now
  medians.set(given, known)
  return givenAt(known)
}

export type Valuation = { readonly is: 'priced'; readonly micros: bigint } | Exclude<Comparison, { is: 'priced' }>

/** The moments of a window at which some tokens had a value. */
interface PricedMarket {
  readonly is: 'priced'
  readonly now: ValueSample
  readonly priced: readonly ValueSample[]
  /** By the tokens of which it is the median. */
  readonly medians: Map<string, ValueSample>
}

type TokensMarket = PricedMarket | Exclude<Comparison, { is: 'priced' }>

/** Until the next reading makes a new list of samples. */
const markets = new WeakMap<readonly ValueSample[], Map<string, TokensMarket>>()

function marketOf({ gives, gets }: ExchangedAmounts, samples: readonly ValueSample[], windowMs: number): TokensMarket {
  const tokens = [...new Set([...Object.keys(gives), ...Object.keys(gets)])].toSorted()
  const ofSamples = markets.get(samples) ?? new Map<string, TokensMarket>()
  markets.set(samples, ofSamples)
  const key = `${windowMs} ${tokens.join(' ')}`
  const market = ofSamples.get(key) ?? readMarket(tokens, samples, windowMs)
  ofSamples.set(key, market)
  return market
}

function readMarket(tokens: readonly string[], samples: readonly ValueSample[], windowMs: number): TokensMarket {
  const newest = samples.at(-1)
  const missing = tokens.filter((token) => !newest?.values.has(token))
  if (!newest || missing.length > 0) return { is: 'no market', tokens: newest ? missing : tokens }
  const isPriced = ({ values }: ValueSample) => tokens.every((token) => values.has(token))
  const since = samples.slice(samples.findIndex(isPriced))
  const priced = since.filter(isPriced)
  const heldMs = since.reduce((sum, sample, index) => {
    const before = since[index - 1]
    return before && isPriced(before) && isPriced(sample) ? sum + Math.min(sample.atMs - before.atMs, maxGapMs) : sum
  }, 0)
  const betweenMs = (newest.atMs - (since[0]?.atMs ?? newest.atMs)) / Math.max(since.length - 1, 1)
  const leftMs = Math.max(windowMs - heldMs, lackingReadings(priced.length, since.length) * betweenMs)
  return leftMs > 0 ? { is: 'too short', leftMs } : { is: 'priced', now: newest, priced, medians: new Map() }
}

/** Of a longer time between two readings no more counts as read. */
export const maxGapMs = 60_000

/**
 * How many more readings with a value it takes until three of four have one. Whoever can take the value away, by its own liquidity, could otherwise
 * have it read only while it is pushed.
 */
const lackingReadings = (priced: number, all: number): number => Math.max(0, 3 * all - 4 * priced)

const ceilDivide = (a: bigint, b: bigint): bigint => (a > 0n ? (a + b - 1n) / b : a / b)
