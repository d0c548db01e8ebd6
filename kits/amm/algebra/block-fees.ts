// The fee of a pool at one block, in each direction, where it is one for all amounts: it is read off a swap that is tried there, and swaps of
// other amounts are computed by it.
import type { Pool } from '../../pools/protocol.ts'
import type { Trial, TriedState, TrialResult } from '../trial.ts'
import { missingTicks, type MissingTicks } from '../v3/lens.ts'
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

/** What tells the fee in a direction: the trial, or first the ticks that it needs. Undefined where nothing can be swapped, so that each amount is tried. */
export function neededForFee(pool: Pool<TriedState>, range: V3PoolState, zeroForOne: boolean): Trial | MissingTicks | undefined {
  const trial = feeTrial(pool, range, zeroForOne)
  if (trial || pool.state.block === undefined) return trial
  const swapped = swap(withFee(range, 0), zeroForOne, 'in', trialInputs.at(-1) ?? 0n)
  return swapped && 'atBestRaw' in swapped ? missingTicks(pool.address, zeroForOne, range) : undefined
}

/**
 * The range with the fee that a trial of `feeTrial` shows; `tried` where the one of the state's own block shows none; undefined where it is not
 * known yet. Swaps of other amounts do not count: a small one takes the same with several fees, and one that fails does not say that the fee
 * cannot be read. So it is with a trial that was made for another block, whose amount may be a small one at this price.
 */
export function pricedBy(range: V3PoolState, zeroForOne: boolean, { block, tried = [] }: TriedState): PricedRange | undefined {
  let isTried = false
  for (const result of tried) {
    if (!result.trial.ofBlock || result.trial.zeroForOne !== zeroForOne) continue
    const fee = feeOf(range, result)
    if (typeof fee === 'number') return withFee(range, fee)
    if (fee === 'none' && result.trial.block === block) isTried = true
  }
  return isTried ? 'tried' : undefined
}

/**
 * The only fee with which the pool takes exactly what it took; `none` where there is none, or more than one; undefined where the pool is not
 * known that far.
 */
function feeOf(range: V3PoolState, { trial: { zeroForOne, exact, amountRaw }, done }: TrialResult): number | 'none' | undefined {
  if (!done || exact !== 'out') return 'none'
  const swapWith = (fee: number) => swap(withFee(range, fee), zeroForOne, 'out', amountRaw)
  const free = swapWith(0)
  if (!free) return 'none'
  if ('atBestRaw' in free) return undefined
  // The fee is a share of the whole input. Each step rounds its part up.
  const about = Number(((done.amountRaw - free.amountRaw) * wholeFeePips) / done.amountRaw)
  const isFee = (fee: number) => {
    const swapped = fee >= 0 && fee < pips ? swapWith(fee) : undefined
    return swapped !== undefined && 'amountRaw' in swapped && swapped.amountRaw === done.amountRaw
  }
  const fee = [about, about - 1, about + 1].find(isFee)
  return fee === undefined || isFee(fee - 1) || isFee(fee + 1) ? 'none' : fee
}

/** What one reading says. */
export const feesOf = (range: V3PoolState, found: TriedState): BlockFees => ({
  zeroForOne: pricedBy(range, true, found),
  oneForZero: pricedBy(range, false, found),
})

/**
 * What two readings of the same block say of what is known of the pool by both.
 * @param found what was tried in both: one of them may not know the pool far enough to tell the fee by it
 */
export function joinFees(range: V3PoolState, found: TriedState, loaded: BlockFees | undefined, inMemory: BlockFees | undefined): BlockFees {
  const joined = (zeroForOne: boolean): PricedRange | undefined => {
    const direction = zeroForOne ? 'zeroForOne' : 'oneForZero'
    const priced = loaded?.[direction] ?? inMemory?.[direction] ?? pricedBy(range, zeroForOne, found)
    return priced === undefined || priced === 'tried' ? priced : withFee(range, priced.fee)
  }
  return { zeroForOne: joined(true), oneForZero: joined(false) }
}

/** Whether two readings agree on the fees of a block that both are of, as far as both know them. */
export function isSameFees(one: PricedState, other: PricedState): boolean {
  if (one.block === undefined || one.block !== other.block) return true
  const isSame = (a: PricedRange | undefined, b: PricedRange | undefined) =>
    a === undefined || b === undefined || (a === 'tried' || b === 'tried' ? a === b : a.fee === b.fee)
  return isSame(one.priced?.zeroForOne, other.priced?.zeroForOne) && isSame(one.priced?.oneForZero, other.priced?.oneForZero)
}
