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
