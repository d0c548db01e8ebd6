import type { Lanes } from './lanes.ts'

// A swap's, to see how deep a pool is.
const typicalUnits = 150_000n
// A pool in which the gas alone would move the price by a percent says nothing about what gas is worth.
const leastDepth = 100n

/**
 * What gas costs in a token, by the deepest of its pools with the wrapped coin, rounded down. Nothing where there is no
 * such pool or only shallow ones: then routes are compared without gas rather than by a price that anyone can set for
 * pennies.
 */
export function gasCostIn(token: string, wrapped: string, lanes: Lanes, gasPriceRaw: bigint): (gasUnits: bigint) => bigint {
  if (token === wrapped) return (gasUnits) => gasUnits * gasPriceRaw
  const trialRaw = typicalUnits * gasPriceRaw * leastDepth
  let deepest: { amountRaw: bigint; spot: { numerator: bigint; denominator: bigint } } | undefined
  for (const lane of lanes.between(wrapped, token)) {
    const { protocol, pool, passage } = lane
    const passed = lane.pass('in', trialRaw)
    if (!passed || 'missing' in passed || (deepest && passed.amountRaw <= deepest.amountRaw)) continue
    const spot = protocol.spot(pool, passage)
    // A pool of two equal sides that holds as much as is put into it gives half of it at its price, less the fee.
    if (passed.amountRaw * spot.denominator * 5n >= trialRaw * spot.numerator * 2n) deepest = { amountRaw: passed.amountRaw, spot }
  }
  if (!deepest) return () => 0n
  const { numerator, denominator } = deepest.spot
  const rateRaw = gasPriceRaw * numerator
  return (gasUnits) => (gasUnits * rateRaw) / denominator
}
