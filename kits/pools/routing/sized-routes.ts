// Routes that may have a share of a large swap. The best price says little there: pools with a better price may hold too little. So they are searched by
// what they give for some sizes of a share, once for a state and all amounts of about the same size.
//
// Few pools are enough. At most three routes pass from one token to another, each through a pool of its own. Were there three better pools for what a
// route takes there, one of them would be free, and the route would be better by that. So each pool of the best routes is among the three best of its
// two tokens, for the amount that passes it.
import type { Swap } from '../../../core/contracts/index.ts'
import {
  atBest,
  getOrCreate,
  innerTokens,
  maxHops,
  versionsOf,
  type PoolEdge,
  type PoolGraph,
  type RouteOptions,
  type RouteQuery,
} from './graph.ts'
import type { RatedRoutes } from './rated-routes.ts'

/** The sizes of a share, as parts of the largest amount of a bucket. */
const sizes = [1 / 400, 1 / 100, 1 / 25, 1 / 8, 1 / 3, 1]
/** Amounts within a factor of four share their routes. */
const bucketBits = 2
const maxPerPair = 3
/** How many partial routes of a size to a token, how many whole ones of a number of hops, and how many of either may pass one pool. */
const [maxPartial, maxWhole, maxPerPool] = [12, 40, 9]

/** A route that may be one of several. */
export interface SizedRoute {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** Output per input in smallest units, at best. */
  readonly maxRate: number
  readonly leastGas: number
}

/** By the rated routes of the two tokens, which belong to a graph and to options; then by size. */
const routesOf = new WeakMap<RatedRoutes, Map<number, readonly SizedRoute[]>>()

/**
 * Routes between the two tokens through pools of versions that one router takes together.
 * @param isTaken whether a router takes such a route beside others
 */
export function sizedRoutes(
  graph: PoolGraph,
  rated: RatedRoutes,
  { query, swap, options }: { readonly query: RouteQuery; readonly swap: Swap; readonly options: RouteOptions },
  isTaken: (versions: readonly string[]) => boolean,
): readonly SizedRoute[] {
  const bucket = Math.floor(Math.log2(Number(query.amountRaw)) / bucketBits)
  // Routers may take one form of the coin and not the other.
  const native = (swap.tokenIn.native ? 1 : 0) + (swap.tokenOut.native ? 2 : 0)
  const ofEnds = getOrCreate(routesOf, rated, () => new Map<number, readonly SizedRoute[]>())
  return getOrCreate(ofEnds, 4 * bucket + native, () => {
    const largest = 2 ** (bucketBits * (bucket + 1))
    const found = new Map<string, SizedRoute>()
    for (const set of options.searchedSets) {
      for (const size of sizes) {
        for (const { edges } of bestFor(largest * size, graph, query, set)) {
          const [key, versions] = [edges.map(({ pool }) => pool.address).join(), versionsOf(edges)]
          if (found.has(key) || !isTaken(versions)) continue
          const maxRate = edges.reduce((rate, edge) => rate * edge.maxRate(), 1)
          const leastGas = edges.reduce((sum, { protocol }) => sum + Number(protocol.leastGasUnits ?? 0n), 0)
          found.set(key, { edges, versions, maxRate, leastGas })
        }
      }
    }
    return [...found.values()]
  })
}

interface Path {
  readonly edges: readonly PoolEdge[]
  /** The token at its end; of an exact output at its beginning. */
  readonly token: string
  readonly amount: number
  /** A pool on the way has state that was not read: it gives no more than that. */
  readonly isUnknown: boolean
}

function bestFor(amount: number, graph: PoolGraph, query: RouteQuery, versions: ReadonlySet<string>): readonly Path[] {
  const { exact, tokenIn, tokenOut } = query
  const [start, end] = exact === 'in' ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const inner = innerTokens(query)
  const complete: Path[] = []
  let open: readonly Path[] = [{ edges: [], token: start, amount, isUnknown: false }]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next: Path[] = []
    for (const token of hop < maxHops ? [...inner, end] : [end]) {
      const found = open.flatMap((path) => bestOf(extensions(path, graph, token, versions, exact), exact, maxPerPair))
      const best = bestOf(found, exact, token === end ? maxWhole : maxPartial, maxPerPool)
      if (token === end) complete.push(...best)
      else next.push(...best)
    }
    open = next
  }
  return complete
}

function extensions(path: Path, graph: PoolGraph, token: string, versions: ReadonlySet<string>, exact: 'in' | 'out'): readonly Path[] {
  const isIn = exact === 'in'
  if (path.token === token || path.edges.some(({ passage }) => (isIn ? passage.tokenIn : passage.tokenOut) === token)) return []
  const found: Path[] = []
  for (const edge of isIn ? graph.edgesBetween(path.token, token) : graph.edgesBetween(token, path.token)) {
    if (!versions.has(edge.protocol.version) || edge.protocol.asksChain?.(edge.pool, edge.passage)) continue
    if (path.edges.some(({ pool }) => pool === edge.pool)) continue
    const passed = passedBy(edge, exact, path)
    if (!passed) continue
    const edges = isIn ? [...path.edges, edge] : [edge, ...path.edges]
    found.push({ edges, token, ...passed })
  }
  return found
}

/** Undefined where the pool refuses that much. */
function passedBy(edge: PoolEdge, exact: 'in' | 'out', { amount, isUnknown }: Path): Pick<Path, 'amount' | 'isUnknown'> | undefined {
  const estimate = edge.estimate(exact, amount)
  if (estimate) return { amount: estimate.amount, isUnknown }
  const amountRaw = BigInt(Math.ceil(amount))
  const passed = edge.pass(exact, amountRaw)
  if (passed && !('missing' in passed)) return passed.amountRaw > 0n ? { amount: Number(passed.amountRaw), isUnknown } : undefined
  const given = atBest(edge, exact, amountRaw, passed, isUnknown)
  return given && given.amountRaw > 0n ? { amount: Number(given.amountRaw), isUnknown: true } : undefined
}

/** Those that give most, or take least. Unknown ones are beside the number: a quote must not depend on what was read before. */
function bestOf(paths: readonly Path[], exact: 'in' | 'out', most: number, mostPerPool = Infinity): readonly Path[] {
  const ordered = paths.toSorted((a, b) => (exact === 'in' ? b.amount - a.amount : a.amount - b.amount))
  const passing = new Map<PoolEdge, number>()
  const found: Path[] = []
  let known = 0
  for (const path of ordered) {
    if (known === most) break
    if (path.edges.some((edge) => (passing.get(edge) ?? 0) >= mostPerPool)) continue
    found.push(path)
    if (path.isUnknown) continue
    known += 1
    for (const edge of path.edges) passing.set(edge, (passing.get(edge) ?? 0) + 1)
  }
  return found
}
