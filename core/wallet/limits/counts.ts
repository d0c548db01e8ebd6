// What each wallet has had signed, in rolling windows: sums by buckets of a minute. A bucket counts until it is wholly outside of a window.

const bucketMs = 60_000
const hourMs = 60 * bucketMs
const dayMs = 24 * hourMs

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
  readonly limit: 'perTransaction' | 'perHour' | 'perDay'
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
  usedRaw(of: Pick<Charge, 'wallet' | 'chain'> & { readonly what: string }, window: 'perHour' | 'perDay', nowMs: number): bigint
}

const windows = [
  ['perHour', hourMs],
  ['perDay', dayMs],
] as const

const bucketOf = (ms: number): number => Math.floor(ms / bucketMs)
/** The first bucket that is not wholly outside of a window that ends now. */
const firstBucket = (nowMs: number, windowMs: number): number => Math.floor((nowMs - windowMs) / bucketMs)

/** Sums by bucket, of each wallet, chain and thing. */
function createSums() {
  const sums = new Map<string, Map<number, bigint>>()

  return {
    add(key: string, bucket: number, amountRaw: bigint): void {
      const buckets = sums.get(key) ?? new Map<number, bigint>()
      sums.set(key, buckets)
      const sum = (buckets.get(bucket) ?? 0n) + amountRaw
      if (sum === 0n) buckets.delete(bucket)
      else buckets.set(bucket, sum)
    },
    /** Of this bucket and all later ones. */
    from(key: string, first: number): bigint {
      let sum = 0n
      for (const [bucket, amountRaw] of sums.get(key) ?? []) if (bucket >= first) sum += amountRaw
      return sum
    },
    /** When so much of what counts now has left the window. */
    whenLeaves(key: string, first: number, windowMs: number, neededRaw: bigint): number | undefined {
      let goneRaw = 0n
      for (const [bucket, amountRaw] of [...(sums.get(key) ?? [])].toSorted(([one], [other]) => one - other)) {
        if (bucket < first) continue
        goneRaw += amountRaw
        if (goneRaw >= neededRaw) return (bucket + 1) * bucketMs + windowMs
      }
      return undefined
    },
    prune(first: number): void {
      for (const [key, buckets] of sums) {
        for (const bucket of buckets.keys()) if (bucket < first) buckets.delete(bucket)
        if (buckets.size === 0) sums.delete(key)
      }
    },
  }
}

export function createCounts(): Counts {
  const sums = createSums()
  /** By wallet, chain and nonce, the one that was signed last at the end. */
  const nonces = new Map<string, NonceCount>()
  /** Charges without a nonce, by wallet, chain and bucket. */
  const others = new Map<
    string,
    { readonly charge: Omit<Charge, 'amounts'>; readonly bucket: number; readonly amounts: Map<string, bigint> }
  >()

  let prunedTo = -Infinity

  const keyOf = ({ wallet, chain }: Omit<Charge, 'amounts'>, rest: string): string => `${wallet} ${chain} ${rest}`

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
      for (const [limit, windowMs] of windows) {
        const mostRaw = bounds[limit]
        if (mostRaw === undefined || amountRaw === 0n) continue
        const first = firstBucket(nowMs, windowMs)
        const key = keyOf(charge, what)
        const usedRaw = sums.from(key, first)
        const ownRaw =
          nonceCount(charge)
            ?.levels.get(what)
            ?.find(({ bucket }) => bucket >= first)?.amountRaw ?? 0n
        const moreRaw = amountRaw > ownRaw ? amountRaw - ownRaw : 0n
        // What was spent may be above a limit that was lowered: then nothing more fits, and what counts already may be signed again.
        if (moreRaw === 0n || usedRaw + moreRaw <= mostRaw) continue
        const freesAtMs = amountRaw > mostRaw ? undefined : sums.whenLeaves(key, first, windowMs, usedRaw + moreRaw - mostRaw)
        const leftRaw = mostRaw > usedRaw ? mostRaw - usedRaw : 0n
        return { what, limit, mostRaw, leftRaw, ...(freesAtMs !== undefined && { freesAtMs }) }
      }
    }
    return undefined
  }

  function add(charge: Charge, nowMs: number): void {
    prune(nowMs)
    const { wallet, chain, nonce } = charge
    const bucket = bucketOf(nowMs)
    if (nonce === undefined) {
      const key = keyOf(charge, String(bucket))
      const other = others.get(key) ?? { charge: { wallet, chain }, bucket, amounts: new Map<string, bigint>() }
      others.set(key, other)
      for (const [what, amountRaw] of charge.amounts) {
        other.amounts.set(what, (other.amounts.get(what) ?? 0n) + amountRaw)
        sums.add(keyOf(charge, what), bucket, amountRaw)
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
      eachStep(before, (at, stepRaw) => sums.add(keyOf(charge, what), at, -stepRaw))
      const larger = before.filter((level) => level.amountRaw > amountRaw)
      const after = larger.at(-1)?.bucket === bucket ? larger : [...larger, { bucket, amountRaw }]
      eachStep(after, (at, stepRaw) => sums.add(keyOf(charge, what), at, stepRaw))
      count.levels.set(what, after)
    }
  }

  function prune(nowMs: number): void {
    const first = firstBucket(nowMs, dayMs)
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
    sums.prune(first)
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
    usedRaw: (of, window, nowMs) => sums.from(keyOf(of, of.what), firstBucket(nowMs, window === 'perHour' ? hourMs : dayMs)),
  }
}
