import { array, assert, bigInt, nat, property, record } from 'fast-check'
import { expect } from 'chai'
import { bucketAt, freesAt, usedIn, type BucketSum, type RollingWindow } from '../../core/base/rolling-windows.ts'

const window: RollingWindow = { bucketMs: 1_000, buckets: 10 }
const windowMs = window.bucketMs * window.buckets

interface Amount {
  readonly atMs: number
  readonly raw: bigint
}

const sumsOf = (all: readonly Amount[]): Map<number, BucketSum> =>
  all.reduce((sums, { atMs, raw }) => {
    const { net, tail } = sums.get(bucketAt(window, atMs)) ?? { net: 0n, tail: 0n }
    return sums.set(bucketAt(window, atMs), { net: net + raw, tail: tail + raw > 0n ? tail + raw : 0n })
  }, new Map<number, BucketSum>())

/** The greatest sum of the latest amounts, of those whose bucket the window touches. */
function usedByDefinition(all: readonly Amount[], nowMs: number): bigint {
  const inside = all.filter(
    ({ atMs }) => bucketAt(window, atMs) * window.bucketMs + window.bucketMs > nowMs - (nowMs % window.bucketMs) - windowMs,
  )
  const since = inside.map((_, from) => inside.slice(from).reduce((sum, { raw }) => sum + raw, 0n))
  return since.reduce((most, sum) => (sum > most ? sum : most), 0n)
}

const itself = (sum: BucketSum): BucketSum => sum
const steps = array(record({ afterMs: nat({ max: 3_000 }), raw: bigInt({ min: -50n, max: 100n }) }), { maxLength: 30 })

describe('a rolling window', () => {
  it('counts the greatest loss since any moment in it, and says from when on so much is free', () => {
    assert(
      property(steps, bigInt({ min: 0n, max: 300n }), nat({ max: 15_000 }), (all, mostRaw, laterMs) => {
        let nowMs = 100_000
        const counted = all.map(({ afterMs, raw }): Amount => ({ atMs: (nowMs += afterMs), raw }))
        nowMs += laterMs
        const sums = sumsOf(counted)
        expect(usedIn(window, sums, itself, nowMs)).to.equal(usedByDefinition(counted, nowMs))
        const at = freesAt(window, sums, itself, mostRaw, nowMs)
        expect(usedByDefinition(counted, at) <= mostRaw, 'free at that moment').to.equal(true)
        if (at > nowMs) expect(usedByDefinition(counted, at - 1) > mostRaw, 'not free before').to.equal(true)
      }),
      { numRuns: 500 },
    )
  })

  it('counts an amount for as long as the window lasts, and at most a bucket longer', () => {
    for (let atMs = 100_000; atMs < 102_000; atMs += 250) {
      const sums = sumsOf([{ atMs, raw: 7n }])
      expect(usedIn(window, sums, itself, atMs + windowMs)).to.equal(7n)
      const leavesMs = freesAt(window, sums, itself, 0n, atMs)
      expect(leavesMs).to.be.within(atMs + windowMs, atMs + windowMs + window.bucketMs)
      expect(usedIn(window, sums, itself, leavesMs)).to.equal(0n)
    }
  })
})
