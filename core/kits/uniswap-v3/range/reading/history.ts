import { SluiceError, type At, type RangeHistory, type RangePool, type RangePrice } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../../../kits/evm/types.ts'
import { priceAtTick } from '../../../../../kits/amm/v3/range-prices.ts'
import { poolAbi } from '../../../../../kits/amm/v3/position-manager.ts'
import type { Read } from './checked-read.ts'
import { signed, wordsOf } from './words.ts'

const mostSeconds = 2 ** 32 - 1
const mostRounds = 4

/**
 * Mean prices between times, by one `observe`. Only where the pool's oracle does not hold that much it is asked how far it
 * does: where its oldest observation is follows from the newest one's place.
 */
export async function history(read: Read, { address }: RangePool, secondsAgo: readonly number[], at: At): Promise<RangeHistory> {
  const asked = secondsAgo.map((seconds) => Math.min(seconds, mostSeconds))
  const observe: Call = { to: address, data: poolAbi.encodeFunctionData('observe', [asked]) }
  const slot0: Call = { to: address, data: poolAbi.encodeFunctionData('slot0') }
  let place: OraclePlace | undefined
  for (let round = 0; round < mostRounds; round += 1) {
    const { head, results } = await read([observe, slot0, ...(place ? oldestCalls(address, place) : [])], at)
    const cumulatives = readCumulatives(results[0], asked.length)
    const within = secondsAgo.every((seconds) => seconds <= mostSeconds)
    if (cumulatives && within) return { is: 'prices', head, prices: meanPrices(cumulatives, asked) }

    const now = readPlace(results[1])
    if (!now) break
    const oldest = place?.index === now.index && place.cardinality === now.cardinality ? readOldest(results.slice(2)) : undefined
    if (oldest !== undefined) {
      // Its clock has 32 bits.
      const holdsSeconds = Number(BigInt.asUintN(32, BigInt(head.timestamp) - oldest))
      if (!within || holdsSeconds < (asked[0] ?? 0)) return { is: 'beyond', head, holdsSeconds }
      break
    }
    place = now
  }
  throw new SluiceError('PRICE_FAILED', `The pool ${address} does not say its past prices: ask for fewer of them, or again.`)
}

interface OraclePlace {
  readonly index: bigint
  readonly cardinality: bigint
}

function readPlace(slot0: CallResult | undefined): OraclePlace | undefined {
  const [, , index, cardinality] = wordsOf(slot0, 4) ?? []
  return index !== undefined && cardinality ? { index, cardinality } : undefined
}

/** OracleLibrary.getOldestObservationSecondsAgo of @uniswap/v3-periphery@1.4.4: the next place, or the first where the ring is not full yet. */
function oldestCalls(address: string, { index, cardinality }: OraclePlace): readonly Call[] {
  return [(index + 1n) % cardinality, 0n].map((each) => ({ to: address, data: poolAbi.encodeFunctionData('observations', [each]) }))
}

function readOldest([next, first]: readonly CallResult[]): bigint | undefined {
  const ofNext = wordsOf(next, 4)
  return ofNext?.[3] ? ofNext[0] : wordsOf(first, 4)?.[0]
}

/** The first of two arrays: ticks times seconds, from when the pool began. */
function readCumulatives(result: CallResult | undefined, count: number): readonly bigint[] | undefined {
  const words = wordsOf(result, 3 + count)
  const start = Number(words?.[0] ?? 0n) / 32
  return words && words[start] === BigInt(count) ? words.slice(start + 1, start + 1 + count).map(signed) : undefined
}

/** OracleLibrary.consult: the mean tick rounded down. The sums wrap around at 56 bits. */
function meanPrices(cumulatives: readonly bigint[], secondsAgo: readonly number[]): readonly RangePrice[] {
  return cumulatives.slice(1).map((later, index) => {
    const sum = BigInt.asIntN(56, later - (cumulatives[index] ?? 0n))
    const seconds = BigInt((secondsAgo[index] ?? 0) - (secondsAgo[index + 1] ?? 0))
    const mean = sum / seconds - (sum < 0n && sum % seconds !== 0n ? 1n : 0n)
    return priceAtTick(Number(mean))
  })
}
