// Sums in rolling windows, by buckets of time: of what clients spend, and of what the signer signs. A bucket counts until it is wholly outside of a window.

export interface RollingWindow {
  readonly bucketMs: number
  readonly buckets: number
}

/** What was counted of one thing in a bucket. */
export interface BucketSum {
  /** Gains are below 0. */
  readonly net: bigint
  /** The greatest sum of its latest amounts: a gain makes up for losses before it, and not for those after it. Without gains it is the net. */
  readonly tail: bigint
}

/** By the number of the bucket, from the earliest to the latest; in any order where nothing is gained. */
type Buckets<B> = ReadonlyMap<number, B>
/** Of one thing, where the bucket has one. */
type SumReader<B> = (bucket: B) => BucketSum | undefined

export const bucketAt = ({ bucketMs }: RollingWindow, ms: number): number => Math.floor(ms / bucketMs)

/** The first that is not wholly outside of the window that ends now. */
export const firstBucket = (window: RollingWindow, nowMs: number): number => bucketAt(window, nowMs) - window.buckets

/** The greatest sum since any moment within the window that ends now. Of what cannot be gained it is the sum. */
export function usedIn<B>(window: RollingWindow, buckets: Buckets<B>, sumOf: SumReader<B>, nowMs: number): bigint {
  const first = firstBucket(window, nowMs)
  let usedRaw = 0n
  for (const [index, bucket] of buckets) {
    const sum = index < first ? undefined : sumOf(bucket)
    if (!sum) continue
    const withEarlier = usedRaw + sum.net
    usedRaw = withEarlier > sum.tail ? withEarlier : sum.tail
  }
  return usedRaw
}

const nothing: BucketSum = { net: 0n, tail: 0n }

/** The time from which at most `maxRaw` is used, if nothing more is counted. @param maxRaw at least 0 */
export function freesAt<B>(window: RollingWindow, buckets: Buckets<B>, sumOf: SumReader<B>, maxRaw: bigint, nowMs: number): number {
  const first = firstBucket(window, nowMs)
  const latestFirst = [...buckets].filter(([index]) => index >= first).toSorted(([one], [other]) => other - one)
  let laterRaw = 0n
  for (const [index, bucket] of latestFirst) {
    const { net, tail } = sumOf(bucket) ?? nothing
    if (laterRaw + tail > maxRaw) return (index + window.buckets + 1) * window.bucketMs
    laterRaw += net
  }
  return nowMs
}

export function dropBefore(buckets: Map<number, unknown>, first: number): void {
  for (const bucket of buckets.keys()) if (bucket < first) buckets.delete(bucket)
}
