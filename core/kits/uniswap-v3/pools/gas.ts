import type { Swapped } from '../../../../kits/amm/v3/swap.ts'

// Measured by swaps of Uniswap's own pools through SwapRouter02 on anvil, with plain tokens and ticks that were crossed
// before: 103,000 in all within one step, 7,200 for a step more, 23,700 where that ends in crossing a tick. What a transaction and the router use besides is added once, by whoever adds up.
const hopUnits = 55_000
const stepUnits = 7_000
const tickUnits = 17_000

// A tick that was never crossed has two empty slots to be written, 17,100 more each than where something is in them
// (https://eips.ethereum.org/EIPS/eip-2929): 58,800 in all, measured. PancakeSwap's farms keep a third for each tick, behind a call of
// their own (crossLmTick of IPancakeV3LmPool, @pancakeswap/v3-core@1.0.2).
const firstCrossingUnits = 70_000

/**
 * What a swap may use besides where it is the first to cross its ticks. One more than it counts: it crosses the one that it ends on to the
 * unit, too, and who comes first may bring the price nearer to the next.
 */
export const firstWriteUnitsOf = ({ ticksCrossed }: Swapped): bigint => BigInt(firstCrossingUnits * (ticksCrossed + 1))

/** An estimate for choosing routes and showing costs; what is signed is simulated first. */
export function gasUnitsOf({ ticksCrossed, steps }: Swapped): bigint {
  return BigInt(hopUnits + stepUnits * (steps - 1) + tickUnits * ticksCrossed)
}
