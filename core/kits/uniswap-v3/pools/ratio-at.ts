import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'

// Swaps come to the same ticks again and again, and a price takes as long as a step does.
const ratios = new Map<number, bigint>()
const mostRatios = 20_000

/** The square root of the price at a tick, times 2^96. */
export function ratioAt(tick: number): bigint {
  const known = ratios.get(tick)
  if (known !== undefined) return known
  if (ratios.size >= mostRatios) ratios.clear()
  const ratio = getSqrtRatioAtTick(tick)
  ratios.set(tick, ratio)
  return ratio
}
