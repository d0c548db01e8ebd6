// The fee of a pool at one block, in each direction, where it is one for all amounts: it is read off a swap that is tried there, and swaps of
// other amounts are computed by it.
import type { Pool } from '../../pools/protocol.ts'
import type { Trial, TriedState, TrialResult } from '../trial.ts'
import { wholeFeePips } from '../v3/math.ts'
import { swap, TickTable, type V3PoolState } from '../v3/swap.ts'

/** A pool as it is for swaps in one direction. `tried`: no trial tells the fee, so that each amount is tried. */
export type PricedRange = V3PoolState | 'tried'

/** Of the block that the state is of; undefined where nothing was read. */
export interface BlockFees {
  readonly zeroForOne: PricedRange | undefined
  readonly oneForZero: PricedRange | undefined
}

interface PricedState extends Pick<TriedState, 'block'> {
  readonly priced?: BlockFees | undefined
}

/** With a table of its own: what earlier swaps found holds for their fee. */
export function withFee(range: V3PoolState, fee: number): V3PoolState {
  if (fee === range.fee) return range
  const { from, to, ticks, liquidity } = range.ticks
  return { ...range, fee, ticks: new TickTable(from, to, ticks, liquidity) }
}

const pips = Number(wholeFeePips)
/**
 * The input of a trial without the fee, in smallest units; the first that a pool takes. With 16 millions, each hundredth of a basis point more
 * takes 16 units more.
 */
const trialInputs = [2n ** 30n, 2n ** 27n, 2n ** 24n]

/** The swap that tells the fee, of an exact output. Undefined where the pool holds too little for that, or is not known that far. */
export function feeTrial({ address, state }: Pool<TriedState>, range: V3PoolState, zeroForOne: boolean): Trial | undefined {
  const { block, number } = state
  if (block === undefined || number === undefined) return undefined
  const free = withFee(range, 0)
  for (const inputRaw of trialInputs) {
    const swapped = swap(free, zeroForOne, 'in', inputRaw)
    if (!swapped || 'atBestRaw' in swapped) continue
    // Where so much gives nothing, one unit takes more.
    const amountRaw = swapped.amountRaw > 0n ? swapped.amountRaw : 1n
    return { pool: address, zeroForOne, exact: 'out', amountRaw, block, number, ofBlock: true }
  }
  return undefined
}

/**
 * The range with the fee that a trial of `feeTrial` shows; `tried` where none does; undefined where none is of this direction. Swaps of other
 * amounts do not count: a small one takes the same with several fees, and one that fails does not say that the fee cannot be read.
 */
export function pricedBy(range: V3PoolState, zeroForOne: boolean, tried: readonly TrialResult[]): PricedRange | undefined {
  const ofDirection = tried.filter(({ trial }) => trial.ofBlock && trial.zeroForOne === zeroForOne)
  for (const result of ofDirection) {
    const fee = feeOf(range, result)
    if (fee !== undefined) return withFee(range, fee)
  }
  return ofDirection.length > 0 ? 'tried' : undefined
}

/** The only fee with which the pool takes exactly what it took. */
function feeOf(range: V3PoolState, { trial: { zeroForOne, exact, amountRaw }, done }: TrialResult): number | undefined {
  if (!done || exact !== 'out') return undefined
  const inputWith = (fee: number): bigint | undefined => {
    const swapped = swap(withFee(range, fee), zeroForOne, 'out', amountRaw)
    return swapped && !('atBestRaw' in swapped) ? swapped.amountRaw : undefined
  }
  const freeRaw = inputWith(0)
  if (freeRaw === undefined) return undefined
  // The fee is a share of the whole input. Each step rounds its part up.
  const about = Number(((done.amountRaw - freeRaw) * wholeFeePips) / done.amountRaw)
  const possible = [about - 1, about, about + 1].filter((fee) => fee >= 0 && fee < pips && inputWith(fee) === done.amountRaw)
  return possible.length === 1 ? possible[0] : undefined
}

/** What two readings of the same block say, for what is known of the pool by both. */
export const joinPriced = (
  range: V3PoolState,
  inMemory: PricedRange | undefined,
  loaded: PricedRange | undefined,
): PricedRange | undefined => {
  const priced = loaded ?? inMemory
  return priced === undefined || priced === 'tried' ? priced : withFee(range, priced.fee)
}

/** Whether two readings agree on the fees of a block that both are of, as far as both know them. */
export function isSameFees(one: PricedState, other: PricedState): boolean {
  if (one.block === undefined || one.block !== other.block) return true
  const isSame = (a: PricedRange | undefined, b: PricedRange | undefined) =>
    a === undefined || b === undefined || (a === 'tried' || b === 'tried' ? a === b : a.fee === b.fee)
  return isSame(one.priced?.zeroForOne, other.priced?.zeroForOne) && isSame(one.priced?.oneForZero, other.priced?.oneForZero)
}
