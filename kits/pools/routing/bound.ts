// What no quote of an exchange does better than, without looking for a route: the server leaves out exchanges that cannot be the best.
//
// Why it holds. Of each pool and direction is proven: output ≤ input × r + c (`spotIsBest` or `rateBound`), whatever is exact.
// - One route. The output of one pool is the input of the next, so two pools in a row have the rate r₁ × r₂ and the offset c₁ × r₂ + c₂.
// - Any route. R and C are the largest rate and the largest offset of all walks of up to three pools between the two tokens. A route is one of them,
//   whatever pools it avoids and whichever form of the coin it passes. So output ≤ input × R + C.
// - Several routes at once. Their inputs add up to the input and their outputs to the output: output ≤ input × R + n × C for n routes.
// - An exact output y needs an input of (y − n × C) / R at least.
// R and C are rounded up with each pool, and the result to the whole unit that is not worse, in favour of the quote. State that was not read only makes a pool give less
// than its price says. Where a pool on a walk has no bound, as those that are asked of the chain, the exchange has none.
import { boundBy, type BoundForAll } from '../../../core/base/amount-bound.ts'
import type { QuoteBound } from '../../../core/contracts/index.ts'
import type { RateBound } from '../protocol.ts'
import { swapGasUnits } from './gas-cost.ts'
import { innerTokens, maxHops, type PoolEdge, type PoolGraph, type RouteOptions, type RouteQuery } from './graph.ts'

/** Of all walks between two tokens; undefined where there is none. */
type WalksBound = RateBound | 'unknown' | undefined

/** The most routes that a swap takes at once: `bestSplit`. */
const maxParts = 3n

const forNone: BoundForAll = { rateX128: 0n, offsetRaw: 0n }
const noOutput: QuoteBound = { amountRaw: boundBy(forNone, 'in', 1n), gasUnits: 0n, forAll: forNone }
const noInput: QuoteBound = { amountRaw: boundBy(forNone, 'out', 1n), gasUnits: 0n, forAll: forNone }

/** Whether it says that there is no route at all. */
export const isOfNoRoute = (bound: QuoteBound): boolean => bound === noOutput || bound === noInput

/** Undefined where a pool that the swap may pass has no bound. */
export function swapBound(graph: PoolGraph, query: RouteQuery, options: RouteOptions): QuoteBound | undefined {
  const { exact, amountRaw } = query
  const bound = boundOf(graph, query, options)
  if (bound === 'unknown') return undefined
  if (bound === undefined) return exact === 'in' ? noOutput : noInput
  const forAll = { rateX128: bound.rateX128, offsetRaw: bound.offsetRaw * maxParts }
  const other = { amountRaw: boundBy(forAll, exact, amountRaw), gasUnits: leastGas(options) }
  // As much as an answer may have.
  return forAll.rateX128 >> 256n === 0n ? { ...other, forAll } : other
}

const leastGasOf = new WeakMap<RouteOptions, bigint>()

/** Of a swap through one pool, the one that uses least. */
function leastGas(options: RouteOptions): bigint {
  const known = leastGasOf.get(options)
  if (known !== undefined) return known
  const units = options.protocols.map(({ leastGasUnits = 0n }) => leastGasUnits)
  const least = swapGasUnits + units.reduce((a, b) => (a < b ? a : b), units[0] ?? 0n)
  leastGasOf.set(options, least)
  return least
}

interface KnownBound extends Pick<RouteQuery, 'tokenIn' | 'tokenOut'> {
  readonly options: RouteOptions
  readonly bound: WalksBound
}

/** They depend on no amount. A graph is that of one pair, so there are few of each: for exact inputs and outputs, and each version. */
const boundsOf = new WeakMap<PoolGraph, KnownBound[]>()

function boundOf(graph: PoolGraph, query: RouteQuery, options: RouteOptions): WalksBound {
  const { tokenIn, tokenOut } = query
  const ofGraph = boundsOf.get(graph) ?? []
  for (const known of ofGraph) if (known.options === options && known.tokenIn === tokenIn && known.tokenOut === tokenOut) return known.bound
  const bound = boundOfWalks(graph, query, options)
  boundsOf.set(graph, ofGraph)
  ofGraph.push({ tokenIn, tokenOut, options, bound })
  return bound
}

function boundOfWalks(graph: PoolGraph, query: RouteQuery, { protocols }: RouteOptions): WalksBound {
  const { tokenIn, tokenOut } = query
  const versions = new Set(protocols.map(({ version }) => version))
  const inner = innerTokens(query)
  let complete: WalksBound
  let reached = new Map<string, WalksBound>([[tokenIn, { rateX128: 1n << 128n, offsetRaw: 0n }]])
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next = new Map<string, WalksBound>()
    for (const to of hop < maxHops ? [...inner, tokenOut] : [tokenOut]) {
      let best: WalksBound
      for (const [from, walks] of reached)
        for (const edge of graph.edgesBetween(from, to)) if (versions.has(edge.protocol.version)) best = better(best, extended(walks, edge))
      if (to === tokenOut) complete = better(complete, best)
      else if (best !== undefined) next.set(to, best)
    }
    reached = next
  }
  return complete
}

function extended(walks: WalksBound, edge: PoolEdge): WalksBound {
  const bound = edgeBound(edge)
  if (walks === undefined || walks === 'unknown' || bound === undefined) return 'unknown'
  return {
    rateX128: ((walks.rateX128 * bound.rateX128) >> 128n) + 1n,
    offsetRaw: ((walks.offsetRaw * bound.rateX128) >> 128n) + (walks.offsetRaw > 0n ? 1n : 0n) + bound.offsetRaw,
  }
}

function better(one: WalksBound, other: WalksBound): WalksBound {
  if (one === 'unknown' || other === 'unknown') return 'unknown'
  if (one === undefined || other === undefined) return one ?? other
  return {
    rateX128: one.rateX128 > other.rateX128 ? one.rateX128 : other.rateX128,
    offsetRaw: one.offsetRaw > other.offsetRaw ? one.offsetRaw : other.offsetRaw,
  }
}

/** Undefined where nothing is proven of the pool. */
function edgeBound({ protocol, pool, passage, rateX128 }: PoolEdge): RateBound | undefined {
  if (protocol.rateBound) return protocol.rateBound(pool, passage)
  return protocol.spotIsBest && !protocol.asksChain?.(pool, passage) ? { rateX128: rateX128(), offsetRaw: 0n } : undefined
}
