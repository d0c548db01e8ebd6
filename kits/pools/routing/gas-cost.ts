// What the gas of a swap costs in the token of its other side, and what the swap leaves after paying for it.
import type { RouteTaker } from '../protocol.ts'
import { getOrCreate, perGraph, type MissingState, type PoolEdge, type PoolGraph, type RouteQuery, type RouteQuote } from './graph.ts'

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

const gasRates = new WeakMap<GasCost, number>()

/** What a unit of gas costs, in floating point. */
export const gasRateOf = (gasCost: GasCost): number =>
  getOrCreate(gasRates, gasCost, () => Number(gasCost(hugeGasUnits)) / Number(hugeGasUnits))

/** The other side of a swap after paying for gas. Negative where the other side is the input. */
export const netGain = (exact: 'in' | 'out', otherRaw: bigint, gasUnits: bigint, gasCost: GasCost): bigint =>
  (exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)

/** A route with its marginal price, fees included. No amount gets a better price. */
export interface RatedRoute {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** The first that takes it. */
  readonly router: RouteTaker
  /** Output per input in smallest units. */
  readonly rate: number
  /** The same; infinite where an amount may get a better price than that. */
  readonly maxRate: number
}

export interface PricedRoute {
  readonly edges: readonly PoolEdge[]
  readonly router: RouteTaker
  /** Where it is one of those that are kept with the graph. */
  readonly rated?: RatedRoute | undefined
  /** The other side of the swap. */
  readonly amountRaw: bigint
  /** Of the whole swap. */
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

export const pricedRoute = (
  edges: readonly PoolEdge[],
  router: RouteTaker,
  { amountRaw, gasUnits, firstWriteUnits }: RouteQuote,
  rated?: RatedRoute,
): PricedRoute => ({ edges, router, rated, amountRaw, gasUnits: swapGasUnits + gasUnits, firstWriteUnits })

/** Of a route through one router. */
export const gainOf = ({ amountRaw, gasUnits }: RouteQuote, { exact }: RouteQuery, gasCost: GasCost): bigint =>
  netGain(exact, amountRaw, swapGasUnits + gasUnits, gasCost)

interface GasPrice {
  readonly gasCost: GasCost
  /** Of pools that could be the deepest. */
  readonly missing: readonly MissingState[]
}

/** By token. The same for all amounts, as long as neither the pools nor the gas price change. */
const gasPricesOf = perGraph<GasPrice & { readonly gasPriceRaw: bigint }>()

/**
 * What gas costs in a token, rounded down, at the price of its deepest pool that takes and gives the wrapped coin. It costs nothing where no pool is deep
 * enough: then routes are compared without gas, rather than by a price that anyone can set for pennies.
 * @param gasPriceRaw wei per gas
 */
export function gasPriceIn(token: string, wrapped: string, graph: PoolGraph, gasPriceRaw: bigint): GasPrice {
  const cache = gasPricesOf(graph)
  const cached = cache.get(token)
  if (cached?.gasPriceRaw === gasPriceRaw) return cached
  const ofCoin: GasPrice = { gasCost: (gasUnits) => gasUnits * gasPriceRaw, missing: [] }
  const gasPrice = { gasPriceRaw, ...(token === wrapped ? ofCoin : gasPriceByDeepestPool(token, wrapped, graph, gasPriceRaw)) }
  cache.set(token, gasPrice)
  return gasPrice
}

/** A pool that passes the trial amount of the coin. */
interface DeepPool {
  readonly edge: PoolEdge
  readonly spot: { readonly numerator: bigint; readonly denominator: bigint }
  /** The output, as a part of what the trial amount is worth at the marginal price; at most, where state is missing. */
  readonly outputMillionths: bigint
  readonly missing?: MissingState
}

function gasPriceByDeepestPool(token: string, wrapped: string, graph: PoolGraph, gasPriceRaw: bigint): GasPrice {
  const trialRaw = typicalGasUnits * gasPriceRaw * minDepth
  const edges = trialRaw > 0n ? graph.edgesBetween(wrapped, token) : []
  const found = edges.flatMap((edge) => deepPool(edge, trialRaw)).toSorted(deeperFirst)
  const missing: MissingState[] = []
  for (const each of found) {
    const known = each.missing ? { missing: each.missing } : givesCoin(each, trialRaw, graph)
    if (known === false) continue
    if (known === true) {
      const { numerator, denominator } = each.spot
      const rateRaw = gasPriceRaw * numerator
      return { gasCost: (gasUnits) => (gasUnits * rateRaw) / denominator, missing }
    }
    missing.push(known.missing)
  }
  return { gasCost: () => 0n, missing }
}

/** Of equal ones those that are known: the others need not be read. */
const deeperFirst = (one: DeepPool, other: DeepPool) =>
  Number(other.outputMillionths - one.outputMillionths) || Number(one.missing !== undefined) - Number(other.missing !== undefined)

function deepPool(edge: PoolEdge, trialRaw: bigint): readonly DeepPool[] {
  const passed = edge.pass('in', trialRaw)
  const spot = edge.spot()
  if (!passed || spot.numerator <= 0n) return []
  const outputRaw = 'missing' in passed ? passed.atBestRaw : passed.amountRaw
  const outputMillionths = outputRaw === undefined ? 1_000_000n : (outputRaw * spot.denominator * 1_000_000n) / (trialRaw * spot.numerator)
  if (outputMillionths < minOutputMillionths) return []
  return [{ edge, spot, outputMillionths, ...('missing' in passed && { missing: missingOf(edge, passed.missing) }) }]
}

/**
 * Whether the pool also pays the trial amount of the coin out, near the same price. To take the coin costs nothing at any price: a pool that has none
 * says what anyone likes. What has it at a wrong price is bought out.
 */
function givesCoin({ edge, spot }: DeepPool, trialRaw: bigint, graph: PoolGraph): boolean | { readonly missing: MissingState } {
  const { tokenIn: wrapped, tokenOut: token } = edge.passage
  const back = graph.edgesBetween(token, wrapped).find(({ protocol, pool }) => protocol === edge.protocol && pool === edge.pool)
  const passed = back?.pass('in', (trialRaw * spot.numerator) / spot.denominator)
  if (!passed) return false
  const outputRaw = 'missing' in passed ? passed.atBestRaw : passed.amountRaw
  if (outputRaw !== undefined && outputRaw * 1_000_000n < trialRaw * minOutputMillionths) return false
  return 'missing' in passed ? { missing: missingOf(edge, passed.missing) } : true
}

const missingOf = ({ protocol, pool }: PoolEdge, missing: unknown): MissingState => ({ protocol, pool: pool.address, missing })
