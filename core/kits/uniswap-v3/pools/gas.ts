import type { Swapped } from './swap.ts'

// Measured by swaps of Uniswap's own pools through SwapRouter02 on anvil, with plain tokens and ticks that were crossed
// before: 103,000 in all within one step, 7,200 for a step more, 23,700 where that ends in crossing a tick. A tick that is
// crossed for the first time costs 40,000. What a transaction and the router use besides is added once, by whoever adds up.
const hopUnits = 55_000
const stepUnits = 7_000
const tickUnits = 17_000

/** An estimate for choosing routes and showing costs; what is signed is simulated first. */
export function gasUnitsOf({ ticksCrossed, steps }: Swapped): bigint {
  return BigInt(hopUnits + stepUnits * (steps - 1) + tickUnits * ticksCrossed)
}
