import { type PoolGraph, perGraph } from './graph.ts'

// Measured on the devnet with the router of Uniswap v2 and plain tokens: 88,000 to 113,000 for one hop and 133,000 for
// two through pools that have traded before, 133,000 and 222,000 where they have not; tokens behind proxies cost more.
// Of that the pools' own part is what their protocol says.
export const swapGasUnits = 50_000n

/** More than any swap takes: where that costs nothing, no gas does. */
export const hugeGasUnits = 10n ** 9n

// A swap's, to see how deep a pool is.
const typicalUnits = 150_000n
// A pool in which the gas alone would move the price by a percent says nothing about what gas is worth.
const leastDepth = 100n
// A pool of two equal sides that holds as much as is put into it gives half of it at its price, less the fee.
const leastKeptMillionths = 400_000n

export type GasCost = (gasUnits: bigint) => bigint

/** What the trader has of the other side after paying for gas: less than nothing where it is what goes in. */
export const netGain = (exact: 'in' | 'out', otherRaw: bigint, gasUnits: bigint, gasCost: GasCost): bigint =>
  (exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)

interface Known {
  readonly gasPriceRaw: bigint
  readonly gasCost: GasCost
}

/** By token: the same for all amounts, while neither pools nor the price of gas change. */
const known = perGraph<Known>()

/**
 * What gas costs in a token, rounded down, by that of its pools with the wrapped coin which a swap moves least. Nothing where
 * there is no such pool or only shallow ones: then routes are compared without gas rather than by a price that anyone can
 * set for pennies.
 */
export function gasCostIn(token: string, wrapped: string, lanes: PoolGraph, gasPriceRaw: bigint): GasCost {
  if (token === wrapped) return (gasUnits) => gasUnits * gasPriceRaw
  const ofLanes = known(lanes)
  const before = ofLanes.get(token)
  if (before?.gasPriceRaw === gasPriceRaw) return before.gasCost
  const gasCost = reckonGasCost(token, wrapped, lanes, gasPriceRaw)
  ofLanes.set(token, { gasPriceRaw, gasCost })
  return gasCost
}

function reckonGasCost(token: string, wrapped: string, lanes: PoolGraph, gasPriceRaw: bigint): GasCost {
  const trialRaw = typicalUnits * gasPriceRaw * leastDepth
  let deepest: { keptMillionths: bigint; spot: { numerator: bigint; denominator: bigint } } | undefined
  for (const lane of trialRaw > 0n ? lanes.edgesBetween(wrapped, token) : []) {
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
