import { type PoolGraph, perGraph } from './graph.ts'

/**
 * The gas of a swap without its pools. Measured on the devnet with the router of Uniswap v2 and plain tokens: 88,000 to 113,000 for one hop
 * and 133,000 for two through pools that have traded before, 133,000 and 222,000 where they have not; tokens behind proxies cost more.
 * The pools' part of that is given by their protocols.
 */
export const swapGasUnits = 50_000n

/** More than any swap uses. If this costs nothing in a token, gas counts as free. */
export const hugeGasUnits = 10n ** 9n

/** A swap of this much gas shows how deep a pool is. */
const typicalGasUnits = 150_000n
/** A pool is deep enough if a swap of this many times the gas cost passes it well. In a smaller pool anyone can set the price. */
const minDepth = 100n
/** A constant-product pool that holds just as much as is put in gives half of the marginal price, less the fee. */
const minOutputMillionths = 400_000n

/** The cost of this much gas in a token, in its smallest units. */
export type GasCost = (gasUnits: bigint) => bigint

/** The other side of a swap after paying for gas. Negative where the other side is the input. */
export const netGain = (exact: 'in' | 'out', otherRaw: bigint, gasUnits: bigint, gasCost: GasCost): bigint =>
  (exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)

/** By token. The same for all amounts, as long as neither the pools nor the gas price change. */
const costsOf = perGraph<{ readonly gasPriceRaw: bigint; readonly gasCost: GasCost }>()

/**
 * What gas costs in a token, rounded down, at the price of its deepest pool with the wrapped coin. It costs nothing where no pool is deep
 * enough: then routes are compared without gas, rather than by a price that anyone can set for pennies.
 * @param gasPriceRaw wei per gas
 */
export function gasCostIn(token: string, wrapped: string, graph: PoolGraph, gasPriceRaw: bigint): GasCost {
  if (token === wrapped) return (gasUnits) => gasUnits * gasPriceRaw
  const costs = costsOf(graph)
  const cached = costs.get(token)
  if (cached?.gasPriceRaw === gasPriceRaw) return cached.gasCost
  const gasCost = gasCostByDeepestPool(token, wrapped, graph, gasPriceRaw)
  costs.set(token, { gasPriceRaw, gasCost })
  return gasCost
}

function gasCostByDeepestPool(token: string, wrapped: string, graph: PoolGraph, gasPriceRaw: bigint): GasCost {
  const trialRaw = typicalGasUnits * gasPriceRaw * minDepth
  let deepest: { outputMillionths: bigint; spot: { numerator: bigint; denominator: bigint } } | undefined
  for (const { protocol, pool, passage, pass } of trialRaw > 0n ? graph.edgesBetween(wrapped, token) : []) {
    const passed = pass('in', trialRaw)
    if (!passed || 'missing' in passed) continue
    const spot = protocol.spot(pool, passage)
    if (spot.numerator <= 0n) continue
    // The output, as a part of what the trial amount is worth at the marginal price.
    const outputMillionths = (passed.amountRaw * spot.denominator * 1_000_000n) / (trialRaw * spot.numerator)
    if (outputMillionths >= minOutputMillionths && outputMillionths > (deepest?.outputMillionths ?? 0n))
      deepest = { outputMillionths, spot }
  }
  if (!deepest) return () => 0n
  const { numerator, denominator } = deepest.spot
  const rateRaw = gasPriceRaw * numerator
  return (gasUnits) => (gasUnits * rateRaw) / denominator
}
