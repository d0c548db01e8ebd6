// The routes between two tokens by their marginal prices. These depend on no amount, so they are kept with the graph; for most amounts they say
// which routes could be the best, and each of those is passed by itself.
import { floatError, type Estimate } from '../protocol.ts'
import { gainOf, gasRateOf, pricedRoute, swapGasUnits, type GasCost, type PricedRoute, type RatedRoute } from './gas-cost.ts'
import {
  estimateAlong,
  getOrCreate,
  innerTokens,
  maxHops,
  perGraph,
  quoteAlong,
  type PoolEdge,
  type PoolGraph,
  type RouteEnds,
  type RouteOptions,
  type RouteQuery,
} from './graph.ts'

export interface RatedRoutes {
  /** Those with the best price first. */
  readonly routes: readonly RatedRoute[]
  /** The `maxRate` of all others is at most this. */
  readonly otherRate: number
}

/** How many of the best routes to each intermediate token are extended. */
const maxRatedPerToken = 6
/** How many routes between two tokens are rated. */
const maxRatedRoutes = 32

/** By options and graph, then by the two tokens: texts that are put together for each question would be hashed anew. */
const ratedRoutesOf = perGraph<Map<string, RatedRoutes>>()

/** The routes between two tokens that some router takes. */
export function ratedRoutes(graph: PoolGraph, ends: RouteEnds, options: RouteOptions): RatedRoutes {
  const { tokenIn, tokenOut } = ends
  const known = ratedRoutesOf(graph, options).get(tokenIn)?.get(tokenOut)
  if (known) return known
  const rated = rateRoutes(graph, ends, options)
  getOrCreate(ratedRoutesOf(graph, options), tokenIn, () => new Map<string, RatedRoutes>()).set(tokenOut, rated)
  return rated
}

interface RatedPath extends Pick<RatedRoute, 'edges' | 'versions'> {
  /** Output per input in smallest units, times 2^128, rounded up. */
  readonly rateX128: bigint
  /** The token at its end. */
  readonly token: string
}

function rateRoutes(graph: PoolGraph, ends: RouteEnds, { versionSets, routerFor }: RouteOptions): RatedRoutes {
  const { tokenIn, tokenOut } = ends
  const inner = innerTokens(ends)
  const rates = maxRatesOf(graph, { ...ends, exact: 'in' })
  const complete: RatedPath[] = []
  let otherRate = 0
  const leaveOut = (path: RatedPath, hopsLeft: number) => {
    const rateFrom = rates[hopsLeft]?.get(path.token)
    if (rateFrom !== undefined) otherRate = Math.max(otherRate, maxRateOf(path) * rateFrom)
  }
  let open: readonly RatedPath[] = [{ token: tokenIn, edges: [], versions: [], rateX128: 1n << 128n }]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next: RatedPath[] = []
    for (const token of hop < maxHops ? [...inner, tokenOut] : [tokenOut]) {
      const extended = open
        .flatMap((path) => extensionsOf(path, graph, token))
        .filter(({ versions }) => versionSets.some((set) => versions.every((each) => set.has(each))))
        .toSorted(byRate)
      if (token === tokenOut) complete.push(...extended)
      else {
        next.push(...extended.slice(0, maxRatedPerToken))
        for (const path of extended.slice(maxRatedPerToken)) leaveOut(path, maxHops - hop)
      }
    }
    open = next
  }
  const routes = complete.toSorted(byRate).flatMap(({ edges, versions, rateX128 }): readonly RatedRoute[] => {
    const router = routerFor(versions)
    return router ? [{ edges, versions, router, rate: Number(rateX128) / 2 ** 128, maxRate: maxRateOf({ edges }) }] : []
  })
  const others = routes.slice(maxRatedRoutes).map(({ maxRate }) => maxRate)
  return { routes: routes.slice(0, maxRatedRoutes), otherRate: Math.max(otherRate, ...others) }
}

function extensionsOf(path: RatedPath, graph: PoolGraph, token: string): readonly RatedPath[] {
  if (path.token === token || path.edges.some(({ passage }) => passage.tokenIn === token)) return []
  return graph
    .edgesBetween(path.token, token)
    .filter((edge) => !path.edges.some(({ pool }) => pool.address === edge.pool.address))
    .map((edge) => ({
      token,
      edges: [...path.edges, edge],
      versions: [...path.versions, edge.protocol.version],
      rateX128: ((path.rateX128 * edge.rateX128()) >> 128n) + 1n,
    }))
}

const byRate = (a: RatedPath, b: RatedPath) => (a.rateX128 === b.rateX128 ? 0 : a.rateX128 > b.rateX128 ? -1 : 1)
const maxRateOf = ({ edges }: Pick<RatedPath, 'edges'>) => edges.reduce((rate, edge) => rate * edge.maxRate(), 1)

/** More than the rounding errors of floating point. */
export const slack = 1e-9

/**
 * The best route where prices leave no doubt: none of the others could win by its price, which no amount betters. Undefined where that is not
 * certain, or where another is exactly as good. By estimates it is found which routes are passed exactly; most often that is one.
 */
export function bestByPrice(graph: PoolGraph, query: RouteQuery, options: RouteOptions, gasCost: GasCost): PricedRoute | undefined {
  const { routes, otherRate } = ratedRoutes(graph, query, options)
  const { exact, amountRaw } = query
  const amount = Number(amountRaw)
  const gasRate = gasRateOf(gasCost)
  const leastGas = Number(swapGasUnits) * gasRate * (1 - slack)
  const boundOf = (rate: number) => (exact === 'in' ? amount * rate * (1 + slack) : (-amount / rate) * (1 - slack)) - leastGas + 1
  const tried: { readonly route: RatedRoute; readonly atBest: number }[] = []
  let least = -Infinity
  let mostOfOthers = boundOf(otherRate)
  for (const route of routes) {
    if (boundOf(route.maxRate) < least) continue
    const gain = estimatedGain(route, query, amount, gasRate)
    if (gain === 'refused') continue
    if ('atMost' in gain) {
      mostOfOthers = Math.max(mostOfOthers, gain.atMost)
      continue
    }
    const error = gain.error * gain.amount + 2
    tried.push({ route, atBest: gain.net + error })
    least = Math.max(least, gain.net - error)
  }
  if (mostOfOthers >= least) return undefined

  let best: { readonly route: PricedRoute; readonly gainRaw: bigint } | undefined
  let isTied = false
  for (const { route, atBest } of tried) {
    if (atBest < least) continue
    const quote = quoteAlong(route.edges, exact, amountRaw, true)
    if (!quote) return undefined
    const gainRaw = gainOf(quote, query, gasCost)
    if (best && gainRaw <= best.gainRaw) {
      isTied ||= gainRaw === best.gainRaw
      continue
    }
    isTied = false
    best = { route: pricedRoute(route.edges, route.router, quote, route), gainRaw }
  }
  return isTied ? undefined : best?.route
}

/** By an estimate, or by passing the pools where there is none; `atMost` where that needs state that is missing. */
function estimatedGain(
  { edges }: RatedRoute,
  query: RouteQuery,
  amount: number,
  gasRate: number,
): 'refused' | { readonly atMost: number } | { readonly amount: number; readonly error: number; readonly net: number } {
  const { exact } = query
  const passed = estimateAlong(edges, exact, amount) ?? exactAlong(edges, query)
  if (passed === 'refused') return passed
  const gas = (Number(swapGasUnits) + passed.gasUnits) * gasRate
  const net = (exact === 'in' ? passed.amount : -passed.amount) - gas
  // Gas is rounded down, and floating point to either side.
  if ('isBound' in passed) return { atMost: net + slack * (passed.amount + gas) + 1 }
  return { amount: passed.amount, error: passed.error, net }
}

/** From a pool with missing state on no amount does better than the best prices of the pools. */
function exactAlong(
  edges: readonly PoolEdge[],
  { exact, amountRaw: exactRaw }: RouteQuery,
): Estimate | (Omit<Estimate, 'error'> & { readonly isBound: true }) | 'refused' {
  let [amountRaw, gasUnits] = [exactRaw, 0n]
  const inOrder = exact === 'in' ? edges : edges.toReversed()
  for (const [index, edge] of inOrder.entries()) {
    const passed = edge.pass(exact, amountRaw)
    if (!passed) return 'refused'
    if ('missing' in passed) {
      const rate = maxRateOf({ edges: inOrder.slice(index) })
      const amount = exact === 'in' ? Number(amountRaw) * rate : Number(amountRaw) / rate
      return { amount, gasUnits: Number(gasUnits), isBound: true }
    }
    if (passed.amountRaw <= 0n) return 'refused'
    amountRaw = passed.amountRaw
    gasUnits += passed.gasUnits
  }
  return { amount: Number(amountRaw), error: floatError, gasUnits: Number(gasUnits) }
}

export const keyOf = ({ exact, tokenIn, tokenOut }: Pick<RouteQuery, 'exact' | 'tokenIn' | 'tokenOut'>): string =>
  `${exact} ${tokenIn} ${tokenOut}`

/** By token: the best product of rates between it and the end of the search. Tokens without a route to the end are missing. */
type MaxRates = ReadonlyMap<string, number>

const maxRatesCache = perGraph<readonly MaxRates[]>()

/** By the number of hops that are left. They depend on no amount, so they are cached with the graph. */
export function maxRatesOf(graph: PoolGraph, query: RouteEnds & Pick<RouteQuery, 'exact'>): readonly MaxRates[] {
  return getOrCreate(maxRatesCache(graph), keyOf(query), () => {
    const isForward = query.exact === 'in'
    const inner = innerTokens(query)
    let rates: MaxRates = new Map([[isForward ? query.tokenOut : query.tokenIn, 1]])
    const byHopsLeft = [rates]
    for (let hopsLeft = 1; hopsLeft < maxHops; hopsLeft += 1) {
      const next = new Map(rates)
      for (const from of inner) {
        for (const [to, rate] of rates) {
          for (const edge of isForward ? graph.edgesBetween(from, to) : graph.edgesBetween(to, from)) {
            next.set(from, Math.max(next.get(from) ?? 0, edge.maxRate() * rate))
          }
        }
      }
      byHopsLeft.push((rates = next))
    }
    return byHopsLeft
  })
}
