import { toRate } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'

/** In 10^-12. */
export function feeRate({ rules: { fees } }: Engine, kind: 'spot' | 'perp', isTaker: boolean): bigint {
  if (kind === 'spot') return toRate(isTaker ? fees.spotCross : fees.spotAdd)
  return toRate(isTaker ? fees.cross : fees.add)
}
