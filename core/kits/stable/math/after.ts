import { getD } from './invariant.ts'
import { feeDenominator, grossOut, precision, toXp, type StablePoolState } from '../../../../kits/amm/stable/math.ts'

// Of the pools' balances, to the unit: `exchange`, `add_liquidity` and `remove_liquidity_imbalance` of curve-contract, contracts/pools.

/**
 * What a pool has after a swap; undefined where its contract would have given another amount: then something became of it that is not
 * known here, such as a donation of the admin's, which nothing logs, or a token that takes a fee on transfer.
 */
export function afterSwap(
  state: StablePoolState,
  { from, to, soldRaw, boughtRaw }: { readonly from: number; readonly to: number; readonly soldRaw: bigint; readonly boughtRaw: bigint },
): readonly bigint[] | undefined {
  const { balances, xp, rates, rounding, fee, adminFee } = state
  const [xOut, rateOut, heldOut] = [xp[to], rates[to], balances[to]]
  const gross = grossOut(state, from, to, soldRaw)
  if (gross === undefined || gross < 0n || xOut === undefined || rateOut === undefined || heldOut === undefined) return undefined
  const feeOut = (gross * fee) / feeDenominator
  const adminOut = (feeOut * adminFee) / feeDenominator
  if (((gross - feeOut) * precision) / rateOut !== boughtRaw) return undefined
  const keptRaw = rounding.keepsWhole
    ? ((xOut - gross + feeOut - adminOut) * precision) / rateOut
    : heldOut - boughtRaw - (adminOut * precision) / rateOut
  return balances.map((balance, index) => (index === from ? balance + soldRaw : index === to ? keptRaw : balance))
}

/**
 * What a pool has after some of each coin was put in, or taken out (below zero), for which the logged fees are due; undefined where the
 * logged invariant, of before the fees, is another.
 */
export function afterChange(
  { balances, rates, ann, rounding, adminFee }: StablePoolState,
  { deltas, fees, invariant }: { readonly deltas: readonly bigint[]; readonly fees: readonly bigint[]; readonly invariant: bigint },
): readonly bigint[] | undefined {
  const before = balances.map((balance, index) => balance + (deltas[index] ?? 0n))
  const xp = toXp(before, rates)
  if (xp.some((x) => x <= 0n) || getD(xp, ann, rounding) !== invariant) return undefined
  return before.map((balance, index) => balance - ((fees[index] ?? 0n) * adminFee) / feeDenominator)
}
