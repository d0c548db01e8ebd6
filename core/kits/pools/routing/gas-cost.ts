import type { Lanes } from './lanes.ts'

// A swap's, to see how deep a pool is.
const typicalUnits = 150_000n
// A pool in which the gas alone would move the price by a percent says nothing about what gas is worth.
const leastDepth = 100n
// A pool of two equal sides that holds as much as is put into it gives half of it at its price, less the fee.
const leastKeptMillionths = 400_000n

/**
 * What gas costs in a token, rounded down, by that of its pools with the wrapped coin which a swap moves least. Nothing where
 * there is no such pool or only shallow ones: then routes are compared without gas rather than by a price that anyone can
 * set for pennies.
 */
export function gasCostIn(token: string, wrapped: string, lanes: Lanes, gasPriceRaw: bigint): (gasUnits: bigint) => bigint {
  if (token === wrapped) return (gasUnits) => gasUnits * gasPriceRaw
  const trialRaw = typicalUnits * gasPriceRaw * leastDepth
  let deepest: { keptMillionths: bigint; spot: { numerator: bigint; denominator: bigint } } | undefined
  for (const lane of trialRaw > 0n ? lanes.between(wrapped, token) : []) {
    const passed = lane.pass('in', trialRaw)
    if (!passed || 'missing' in passed) continue
    const spot = lane.protocol.spot(lane.pool, lane.passage)
    if (spot.numerator <= 0n) continue
    // Of what the trial is worth at the pool's price, what it gives.
    const keptMillionths = (passed.amountRaw * spot.denominator * 1_000_000n) / (trialRaw * spot.numerator)
    if (keptMillionths >= leastKeptMillionths && keptMillionths > (deepest?.keptMillionths ?? 0n)) deepest = { keptMillionths, spot }
  }
  if (!deepest) return () => 0n
  const { numerator, denominator } = deepest.spot
  const rateRaw = gasPriceRaw * numerator
  return (gasUnits) => (gasUnits * rateRaw) / denominator
}
