// What one client has spent and what its open transactions may still spend, by measure. Pure.
import { isObject } from '../base/json.ts'
import { dropOldest } from '../base/oldest.ts'
import * as rolling from '../base/rolling-windows.ts'

/**
 * What is counted: `count` of transactions; `loss` and `value` in millionths of the reference token; `gas:<chain>/<network>` in the smallest unit
 * of the network's coin; `notional:<account>` of perpetuals in millionths, only while orders are open; `token:<chain>/<network>/<address>` in the smallest unit of the token.
 */
export type Measure = string
export type Amounts = Readonly<Record<Measure, bigint>>

export type Window = keyof typeof windows
/** Rolling windows, by buckets of the store's time. */
export const windows = { hour: { bucketMs: 60_000, buckets: 60 }, day: { bucketMs: 15 * 60_000, buckets: 96 } } as const

/** The windows by which a measure can be limited: nothing is kept for others. */
export function windowsOf(measure: Measure): readonly Window[] {
  if (measure === 'count') return ['hour']
  if (measure.startsWith('notional:')) return []
  return measure === 'loss' || measure.startsWith('gas:') ? ['day'] : ['hour', 'day']
}

/** What was spent of a measure in a bucket. */
interface BucketSum extends rolling.BucketSum {
  /** The sum of its gains. */
  readonly gained: bigint
}

type Bucket = Readonly<Record<Measure, BucketSum>>

export interface Account {
  /** What open reservations hold, whatever their age. */
  readonly open: Amounts
  /** By the number of the bucket. */
  readonly spent: Readonly<Record<Window, ReadonlyMap<number, Bucket>>>
  /** By account at an exchange of perpetuals: what names the last orders. */
  readonly lastOrders?: Readonly<Record<string, string>>
  /** By the key of another client's entry: the highest fee that this client was charged up to when it raised it. */
  readonly raised?: Amounts
}

export const emptyAccount: Account = { open: {}, spent: { hour: new Map(), day: new Map() } }

/** Moments of the store's time, in milliseconds. */
export interface Moment {
  /** The latest count. */
  readonly nowMs: number
  /** By how much it may be behind. What is spent is dated so much later: it never leaves a window too early. */
  readonly lagMs: number
}

export const reserve = (account: Account, held: Amounts): Account => ({ ...account, open: sum(account.open, held) })

/** What was held no longer is, and what it came to is spent now. Nothing came of it: `{}`. */
export function settle(account: Account, held: Amounts, actual: Amounts, moment: Moment): Account {
  const open = sum(account.open, negative(held))
  return { ...account, open, spent: { hour: spend(account, 'hour', actual, moment), day: spend(account, 'day', actual, moment) } }
}

/** When something was counted, to take a part of it back later. */
export interface CountedAt {
  /** What dates it: the moment with its lag. */
  readonly atMs: number
  /** By measure, what was gained in its bucket before. */
  readonly gained: Amounts
}

/** Of what is counted at this moment. */
export function countedAt({ spent }: Account, amounts: Amounts, { nowMs, lagMs }: Moment): CountedAt {
  const atMs = nowMs + lagMs
  const bucket = spent.day.get(rolling.bucketAt(windows.day, atMs))
  const gained = Object.fromEntries(Object.keys(amounts).map((measure) => [measure, bucket?.[measure]?.gained ?? 0n]))
  return { atMs, gained: sum(gained, {}) }
}

/**
 * What was counted then, and came back for certain, is counted no more. A loss stays where something was gained in its bucket after it: that made up
 * for it, and without it would make up for less. Of what has left its windows nothing is left to free.
 */
export function refund(account: Account, amounts: Amounts, { atMs, gained }: CountedAt): Account {
  const refundIn = (window: Window): ReadonlyMap<number, Bucket> => {
    const index = rolling.bucketAt(windows[window], atMs)
    const bucket = account.spent[window].get(index)
    if (!bucket) return account.spent[window]
    const refunded = Object.entries(amounts).flatMap(([measure, raw]): [Measure, BucketSum][] => {
      const { [measure]: sumOf } = bucket
      if (!sumOf || sumOf.gained !== (gained[measure] ?? 0n)) return []
      return [[measure, { ...sumOf, net: sumOf.net - raw, tail: sumOf.tail > raw ? sumOf.tail - raw : 0n }]]
    })
    return new Map(account.spent[window]).set(index, { ...bucket, ...Object.fromEntries(refunded) })
  }
  return { ...account, spent: { hour: refundIn('hour'), day: refundIn('day') } }
}

const sumOf =
  (measure: Measure) =>
  (bucket: Bucket): BucketSum | undefined =>
    bucket[measure]

/** Against the spender: the greatest loss since any moment within the window, and what is held. */
export const usedIn = (account: Account, window: Window, measure: Measure, nowMs: number): bigint =>
  rolling.usedIn(windows[window], account.spent[window], sumOf(measure), nowMs) + (account.open[measure] ?? 0n)

/** The store's time from which so much or less is used, if nothing more is spent; undefined where what is held alone is more. */
export function freesAt(account: Account, window: Window, measure: Measure, most: bigint, nowMs: number): number | undefined {
  const leftRaw = most - (account.open[measure] ?? 0n)
  return leftRaw < 0n ? undefined : rolling.freesAt(windows[window], account.spent[window], sumOf(measure), leftRaw, nowMs)
}

function spend({ spent }: Account, window: Window, amounts: Amounts, { nowMs, lagMs }: Moment): ReadonlyMap<number, Bucket> {
  const kept = new Map(spent[window])
  rolling.dropBefore(kept, rolling.firstBucket(windows[window], nowMs))
  const counted = Object.entries(amounts).filter(([measure, amount]) => amount !== 0n && windowsOf(measure).includes(window))
  if (counted.length === 0) return kept
  const index = rolling.bucketAt(windows[window], nowMs + lagMs)
  const before = kept.get(index)
  const added = counted.map(([measure, amount]): [Measure, BucketSum] => {
    const { net, tail, gained } = before?.[measure] ?? { net: 0n, tail: 0n, gained: 0n }
    return [measure, { net: net + amount, tail: tail + amount > 0n ? tail + amount : 0n, gained: amount < 0n ? gained - amount : gained }]
  })
  return kept.set(index, { ...before, ...Object.fromEntries(added) })
}

/** Without measures of which nothing is left. */
export function sum(one: Amounts, other: Amounts): Amounts {
  const all: [Measure, bigint][] = []
  for (const [measure, raw] of Object.entries(one)) {
    const both = raw + (other[measure] ?? 0n)
    if (both !== 0n) all.push([measure, both])
  }
  for (const [measure, raw] of Object.entries(other)) if (raw !== 0n && one[measure] === undefined) all.push([measure, raw])
  return Object.fromEntries(all)
}

export const negative = (amounts: Amounts): Amounts => Object.fromEntries(Object.entries(amounts).map(([measure, raw]) => [measure, -raw]))

/** Of each measure the most that any of them holds: at most one of them happens. */
export function greatest(all: readonly Amounts[]): Amounts {
  const most: Record<Measure, bigint> = {}
  for (const amounts of all) for (const [measure, raw] of Object.entries(amounts)) if (raw > (most[measure] ?? 0n)) most[measure] = raw
  return most
}

/**
 * As two lines of JSON: what is open, and what was spent, which a reservation leaves as it is. Amounts are decimal texts, the tail behind the net where
 * they differ, and behind it what was gained.
 */
export const writeAccount = ({ open, spent, lastOrders, raised }: Account): string =>
  `${JSON.stringify({ open: writeAmounts(open), ...(lastOrders && { lastOrders }), ...(raised && { raised: writeAmounts(raised) }) })}\n${textsOfSpent.get(spent) ?? textOf(spent)}`

/** @throws Error where it is not what `writeAccount` makes: what was spent is not known */
export function readAccount(text: string): Account {
  const end = text.indexOf('\n')
  const stored: unknown = JSON.parse(text.slice(0, end))
  if (!isObject(stored)) throw new Error('It is not an account.')
  const lastOrders = Object.entries(isObject(stored['lastOrders']) ? stored['lastOrders'] : {}).map(
    ([key, id]) => [key, String(id)] as const,
  )
  const spent = text.slice(end + 1)
  return {
    open: readAmounts(stored['open']),
    ...(lastOrders.length > 0 && { lastOrders: Object.fromEntries(lastOrders) }),
    ...(stored['raised'] !== undefined && { raised: readAmounts(stored['raised']) }),
    spent: spentByText.get(spent) ?? readSpent(spent),
  }
}

type SpentBuckets = Account['spent']

/** Texts that were read or written lately: a day of buckets takes a millisecond to read, and each reservation asks for them. */
const spentByText = new Map<string, SpentBuckets>()
const textsOfSpent = new WeakMap<SpentBuckets, string>()
const maxTexts = 32

function keep(spent: SpentBuckets, text: string): void {
  dropOldest(spentByText, maxTexts - 1)
  spentByText.set(text, spent)
  textsOfSpent.set(spent, text)
}

function textOf(spent: SpentBuckets): string {
  const buckets = (window: Window) => [...spent[window]].map(([index, bucket]) => `"${index}":${textOfBucket(bucket)}`).join(',')
  const text = `{"hour":{${buckets('hour')}},"day":{${buckets('day')}}}`
  keep(spent, text)
  return text
}

/** Buckets never change: of all those of a day and an hour what is spent makes two new ones. */
const textsOfBuckets = new WeakMap<Bucket, string>()

function textOfBucket(bucket: Bucket): string {
  const text = textsOfBuckets.get(bucket) ?? JSON.stringify(Object.fromEntries(Object.entries(bucket).map(writeSum)))
  textsOfBuckets.set(bucket, text)
  return text
}

const writeSum = ([measure, { net, tail, gained }]: [Measure, BucketSum]) => [
  measure,
  gained > 0n ? `${net} ${tail} ${gained}` : net === tail ? `${net}` : `${net} ${tail}`,
]

/** @throws Error */
function readSpent(text: string): SpentBuckets {
  const buckets = (value: unknown): ReadonlyMap<number, Bucket> =>
    new Map(
      entriesOf(value).map(([index, bucket]) => [
        Number(index),
        Object.fromEntries(
          entriesOf(bucket).map(([measure, amounts]) => {
            const [net = '', tail = net, gained = '0'] = String(amounts).split(' ')
            return [measure, { net: BigInt(net), tail: BigInt(tail), gained: BigInt(gained) }]
          }),
        ),
      ]),
    )
  const { hour, day } = Object.fromEntries(entriesOf(JSON.parse(text)))
  const spent = { hour: buckets(hour), day: buckets(day) }
  keep(spent, text)
  return spent
}

export const writeAmounts = (amounts: Amounts): Record<Measure, string> =>
  Object.fromEntries(Object.entries(amounts).map(([measure, raw]) => [measure, raw.toString()]))

/** @throws Error where it is not what `writeAmounts` makes */
export const readAmounts = (value: unknown): Amounts =>
  Object.fromEntries(entriesOf(value).map(([measure, raw]) => [measure, BigInt(String(raw))]))

function entriesOf(value: unknown): [string, unknown][] {
  if (!isObject(value)) throw new Error('It is not an object.')
  return Object.entries(value)
}
