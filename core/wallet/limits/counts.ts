// What each wallet has had signed, in rolling windows: sums by buckets of a minute.
import { bucketAt, dropBefore, firstBucket, freesAt, usedIn, type BucketSum } from '../../base/rolling-windows.ts'

const bucketMs = 60_000
const windows = { perHour: { bucketMs, buckets: 60 }, perDay: { bucketMs, buckets: 24 * 60 } } as const
type Window = keyof typeof windows

/** What is bounded of gas: all of it, and that of what neither cancels nor revokes, which has a smaller share. */
export const [allGas, gasOfTrades] = ['gasCost', 'gasCost of trades']

/** What one signature may give away. */
export interface Charge {
  /** Of the wallet: `addressKey`. */
  readonly wallet: string
  /** The network, whatever name it was asked for by: a chain id, or what stands for it. */
  readonly chain: string
  /** Of several signed transactions with one nonce at most one is mined: the largest counts. Absent: each counts. */
  readonly nonce?: string | undefined
  /** In smallest units, by what is bounded: `native`, gas, `transactions`, `withdrawals`, `token 0x…`. */
  readonly amounts: ReadonlyMap<string, bigint>
}

/** The most of one thing, in smallest units. */
export interface Bounds {
  readonly perTransaction?: bigint | undefined
  readonly perHour?: bigint | undefined
  readonly perDay?: bigint | undefined
}

/** The first limit that a charge is over. */
export interface Excess {
  /** What is bounded. */
  readonly what: string
  readonly limit: 'perTransaction' | Window
  readonly mostRaw: bigint
  readonly leftRaw: bigint
  /** When there is room for it, if nothing else is signed. Undefined: never. */
  readonly freesAtMs?: number
}

/** A charge with its time: what is kept of it. */
export interface CountedCharge extends Charge {
  readonly ms: number
}

interface Level {
  readonly bucket: number
  readonly amountRaw: bigint
}

/**
 * What one nonce counts: the largest transaction in each window. Later ones that are at least as large take the place of earlier ones, so that
 * amounts fall from one to the next.
 */
interface NonceCount {
  readonly charge: Omit<Charge, 'amounts'>
  /** By what is bounded, from the earliest to the latest. */
  readonly levels: Map<string, readonly Level[]>
  lastBucket: number
}

export interface Counts {
  /** @returns the first limit that the charge is over; undefined: there is room for it */
  check(charge: Charge, boundsOf: (what: string) => Bounds, nowMs: number): Excess | undefined
  /** Counts it, whatever the limits are. Times do not go backwards. */
  add(charge: Charge, nowMs: number): void
  /** What still counts, from the earliest to the latest: adding all of them to nothing makes the same counts. */
  charges(nowMs: number): readonly CountedCharge[]
  /** What was counted in a window that ends now. */
  usedRaw(of: Pick<Charge, 'wallet' | 'chain'> & { readonly what: string }, window: Window, nowMs: number): bigint
}

const noBuckets: ReadonlyMap<number, BucketSum> = new Map()
const itself = (sum: BucketSum): BucketSum => sum

export function createCounts(): Counts {
  /** Of each wallet, chain and thing, by bucket. Nothing is gained: the tail is the net. */
  const sums = new Map<string, Map<number, BucketSum>>()
  /** By wallet, chain and nonce, the one that was signed last at the end. */
  const nonces = new Map<string, NonceCount>()
  /** Charges without a nonce, by wallet, chain and bucket. */
  const others = new Map<
    string,
    { readonly charge: Omit<Charge, 'amounts'>; readonly bucket: number; readonly amounts: Map<string, bigint> }
  >()

  let prunedTo = -Infinity

  const keyOf = ({ wallet, chain }: Omit<Charge, 'amounts'>, rest: string): string => `${wallet} ${chain} ${rest}`

  function addTo(key: string, bucket: number, amountRaw: bigint): void {
    const buckets = sums.get(key) ?? new Map<number, BucketSum>()
    sums.set(key, buckets)
    const sum = (buckets.get(bucket)?.net ?? 0n) + amountRaw
    if (sum === 0n) buckets.delete(bucket)
    else buckets.set(bucket, { net: sum, tail: sum })
  }

  /** Each level is what its nonce counts above the next one: then the sum of a window is that of its largest. */
  function eachStep(levels: readonly Level[], work: (bucket: number, stepRaw: bigint) => void): void {
    for (const [index, { bucket, amountRaw }] of levels.entries()) work(bucket, amountRaw - (levels[index + 1]?.amountRaw ?? 0n))
  }

  const nonceCount = (charge: Charge): NonceCount | undefined =>
    charge.nonce === undefined ? undefined : nonces.get(keyOf(charge, charge.nonce))

  function check(charge: Charge, boundsOf: (what: string) => Bounds, nowMs: number): Excess | undefined {
    for (const [what, amountRaw] of charge.amounts) {
      const bounds = boundsOf(what)
      const { perTransaction } = bounds
      if (perTransaction !== undefined && amountRaw > perTransaction)
        return { what, limit: 'perTransaction', mostRaw: perTransaction, leftRaw: perTransaction }
      for (const limit of ['perHour', 'perDay'] as const) {
        const mostRaw = bounds[limit]
        if (mostRaw === undefined || amountRaw === 0n) continue
        const window = windows[limit]
        const first = firstBucket(window, nowMs)
        const buckets = sums.get(keyOf(charge, what)) ?? noBuckets
        const usedRaw = usedIn(window, buckets, itself, nowMs)
        const ownRaw =
          nonceCount(charge)
            ?.levels.get(what)
            ?.find(({ bucket }) => bucket >= first)?.amountRaw ?? 0n
        const moreRaw = amountRaw > ownRaw ? amountRaw - ownRaw : 0n
        // What was spent may be above a limit that was lowered: then nothing more fits, and what counts already may be signed again.
        if (moreRaw === 0n || usedRaw + moreRaw <= mostRaw) continue
        const freesAtMs = amountRaw > mostRaw ? undefined : freesAt(window, buckets, itself, mostRaw - moreRaw, nowMs)
        const leftRaw = mostRaw > usedRaw ? mostRaw - usedRaw : 0n
        return { what, limit, mostRaw, leftRaw, ...(freesAtMs !== undefined && { freesAtMs }) }
      }
    }
    return undefined
  }

  function add(charge: Charge, nowMs: number): void {
    prune(nowMs)
    const { wallet, chain, nonce } = charge
    const bucket = bucketAt(windows.perDay, nowMs)
    if (nonce === undefined) {
      const key = keyOf(charge, String(bucket))
      const other = others.get(key) ?? { charge: { wallet, chain }, bucket, amounts: new Map<string, bigint>() }
      others.set(key, other)
      for (const [what, amountRaw] of charge.amounts) {
        other.amounts.set(what, (other.amounts.get(what) ?? 0n) + amountRaw)
        addTo(keyOf(charge, what), bucket, amountRaw)
      }
      return
    }
    const key = keyOf(charge, nonce)
    const count = nonces.get(key) ?? { charge: { wallet, chain, nonce }, levels: new Map<string, readonly Level[]>(), lastBucket: bucket }
    // Moved to the end.
    nonces.delete(key)
    nonces.set(key, count)
    count.lastBucket = bucket
    for (const [what, amountRaw] of charge.amounts) {
      const before = count.levels.get(what) ?? []
      eachStep(before, (at, stepRaw) => addTo(keyOf(charge, what), at, -stepRaw))
      const larger = before.filter((level) => level.amountRaw > amountRaw)
      const after = larger.at(-1)?.bucket === bucket ? larger : [...larger, { bucket, amountRaw }]
      eachStep(after, (at, stepRaw) => addTo(keyOf(charge, what), at, stepRaw))
      count.levels.set(what, after)
    }
  }

  function prune(nowMs: number): void {
    const first = firstBucket(windows.perDay, nowMs)
    for (const [key, { lastBucket }] of nonces) {
      if (lastBucket >= first) break
      nonces.delete(key)
    }
    for (const [key, { bucket }] of others) {
      if (bucket >= first) break
      others.delete(key)
    }
    if (first === prunedTo) return
    prunedTo = first
    for (const [key, buckets] of sums) {
      dropBefore(buckets, first)
      if (buckets.size === 0) sums.delete(key)
    }
    // A level that left the window had its step there.
    for (const count of nonces.values())
      for (const [what, levels] of count.levels) {
        const left = levels.filter(({ bucket }) => bucket >= first)
        if (left.length < levels.length) count.levels.set(what, left)
      }
  }

  function charges(nowMs: number): readonly CountedCharge[] {
    prune(nowMs)
    const all = [...others.values()].map(({ charge, bucket, amounts }): CountedCharge => ({ ...charge, amounts, ms: bucket * bucketMs }))
    for (const { charge, levels } of nonces.values()) {
      const byBucket = new Map<number, Map<string, bigint>>()
      for (const [what, each] of levels)
        for (const { bucket, amountRaw } of each) {
          const amounts = byBucket.get(bucket) ?? new Map<string, bigint>()
          byBucket.set(bucket, amounts.set(what, amountRaw))
        }
      for (const [bucket, amounts] of byBucket) all.push({ ...charge, amounts, ms: bucket * bucketMs })
    }
    return all.toSorted((one, other) => one.ms - other.ms)
  }

  return {
    check,
    add,
    charges,
    usedRaw: (of, window, nowMs) => usedIn(windows[window], sums.get(keyOf(of, of.what)) ?? noBuckets, itself, nowMs),
  }
}
