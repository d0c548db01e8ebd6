import { addressKey } from '../../core/base/addresses.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import { type Head, type Hop, type Quote, type QuotePart, type Swap, type Token, SluiceError } from '../../core/contracts/index.ts'
import { bestRoute, search } from './routing/best-route.ts'
import { gasPriceIn, type PricedRoute, type RatedRoute } from './routing/gas-cost.ts'
import {
  innerTokens,
  maxHops,
  poolGraphOf,
  atSpot,
  getOrCreate,
  spotAlong,
  versionsOf,
  type MissingState,
  type PoolEdge,
  type PoolGraph,
  type RouteOptions,
  type RouteQuery,
} from './routing/graph.ts'
import { takesRoute, type KnownPool, type RouteTaker } from './protocol.ts'
import { bestSplit, shareDecimal, type SplitRoute } from './routing/split.ts'

/** Everything that a quote depends on: the pools that it may pass, after one block, and the gas price. */
interface PricingSnapshot {
  readonly head: Head
  readonly graph: PoolGraph
  readonly options: RouteOptions
  /** The only version that the caller asked for. */
  readonly version: string | undefined
  readonly wrapped: Token
  readonly intermediates: readonly Token[]
  readonly intermediateAddresses: readonly string[]
  /** Smallest units of the native coin per gas. */
  readonly gasPriceRaw: bigint
  /** What else to say where none of the pools exists. */
  readonly ifNoPool?: string | undefined
  /** Called where no route is found. Absent: every pool that exists can swap. */
  readonly stopped?: (() => readonly StoppedPool[]) | undefined
}

/** A pool that exists and cannot swap after this block. */
export interface StoppedPool {
  readonly address: string
  /** Absent where its contract reverts when it is read. */
  readonly known?: KnownPool
}

interface NeedsState {
  readonly missing: readonly MissingState[]
}

/** The address by which pools know a token: the native coin is traded as the wrapped one. */
export const poolToken = (token: Token, wrapped: Token): string => (token.native ? wrapped.address : token.address)

/**
 * Quotes the best route of a swap, or several routes at once; or returns the state that must be read to know the best.
 * @param readsLeft how often state can still be read; at 0 a pool with missing state counts as one that refuses
 * @throws SluiceError PRICE_FAILED or PAIR_NOT_FOUND where no route gives anything
 */
export function priceSwap(snapshot: PricingSnapshot, swap: Swap, readsLeft: number): Quote | NeedsState {
  const { head, options, wrapped, intermediateAddresses, gasPriceRaw } = snapshot
  const { exact, amountRaw } = swap
  const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
  const isEnd = tokenIn === wrapped.address || tokenOut === wrapped.address
  const graph = exact === 'in' || isEnd ? snapshot.graph : withoutWrappedForm(snapshot.graph)
  const query: RouteQuery = { tokenIn, tokenOut, intermediates: intermediateAddresses, exact, amountRaw }
  const { gasCost, missing: missingForGas } = gasPriceIn(exact === 'in' ? tokenOut : tokenIn, wrapped.address, graph, gasPriceRaw)
  const { best, isTooLittle, missing: missingForRoute } = bestRoute(graph, query, options, gasCost)
  const split = best && bestSplit(graph, { swap, query, options, gasCost, best })
  // One read for all.
  const isSplit = split && !('missing' in split)
  const missingForSplit = split && !isSplit ? split.missing : []
  if (missingForGas.length + missingForRoute.length + missingForSplit.length > 0 && readsLeft > 0)
    return { missing: [...missingForGas, ...missingForRoute, ...missingForSplit] }
  if (!best) throw noPriceError(snapshot, swap, query, isTooLittle)
  const { amountRaw: otherRaw, gasUnits, firstWriteUnits, router } = isSplit ? split : best
  if (!isSplit) {
    const { hops, spot, takers } = best.rated ? shownOf(best.rated, options, exact) : showRoute(best, options, exact)
    const spotAmountRaw = atSpot(spot, amountRaw)
    // Two objects rather than one with a spread, of which V8 copies each field by its name.
    const spender = router.address
    if (takers.length === 0 || swap.tokenIn.native)
      return { swap, amountRaw: otherRaw, spotAmountRaw, gasUnits, firstWriteUnits, route: hops, head, spender }
    return { swap, amountRaw: otherRaw, spotAmountRaw, gasUnits, firstWriteUnits, route: hops, head, spender, otherSpenders: takers }
  }
  return { swap, amountRaw: otherRaw, gasUnits, firstWriteUnits, head, spender: router.address, ...shownParts(split, swap, options) }
}

/** What a quote says of several routes at once. */
function shownParts(
  { parts, router }: SplitRoute,
  swap: Swap,
  options: RouteOptions,
): Pick<Quote, 'spotAmountRaw' | 'route' | 'parts' | 'otherSpenders'> {
  let spotAmountRaw = 0n
  const route: Hop[] = []
  const shown: QuotePart[] = []
  for (const { edges, share, exactRaw, otherRaw } of parts) {
    spotAmountRaw += atSpot(spotAlong(edges, swap.exact), exactRaw)
    const shareText = shareDecimal(share)
    for (const edge of edges) {
      const { pool, version, tokenIn, tokenOut, fee } = edge.hop()
      route.push({ pool, version, tokenIn, tokenOut, fee, share: shareText })
    }
    shown.push({ hops: edges.length, exactRaw, otherRaw })
  }
  const versions = parts.map(({ edges }) => versionsOf(edges))
  const takers = swap.tokenIn.native ? [] : othersOf(options, router, (other) => other.splits?.(versions, swap) === true)
  return takers.length > 0 ? { spotAmountRaw, route, parts: shown, otherSpenders: takers } : { spotAmountRaw, route, parts: shown }
}

/** What a quote says of a route, whatever the amount. */
interface ShownRoute {
  readonly hops: readonly Hop[]
  readonly spot: ReturnType<PoolEdge['spot']>
  /** Routers that would do the same as the one that is preferred. */
  readonly takers: readonly string[]
}

/** Of those that are kept with a graph: their options belong to one side. */
const shownRoutes = new WeakMap<RatedRoute, ShownRoute>()

const shownOf = (route: RatedRoute, options: RouteOptions, exact: 'in' | 'out'): ShownRoute =>
  getOrCreate(shownRoutes, route, () => showRoute(route, options, exact))

function showRoute({ edges, router }: Pick<PricedRoute, 'edges' | 'router'>, options: RouteOptions, exact: 'in' | 'out'): ShownRoute {
  const versions = versionsOf(edges)
  return {
    hops: Object.freeze(edges.map((edge) => edge.hop())),
    spot: spotAlong(edges, exact),
    takers: Object.freeze(othersOf(options, router, (other) => takesRoute(other, versions, exact))),
  }
}

const othersOf = ({ all }: RouteOptions, preferred: RouteTaker, takes: (router: RouteTaker) => boolean): readonly string[] =>
  all.filter((router) => router.address !== preferred.address && takes(router)).map(({ address }) => address)

/** By graph, for those in which pools have the coin itself; the same graph for the others. */
const graphsWithoutWrapped = new WeakMap<PoolGraph, PoolGraph>()

/**
 * The graph without pools that have the wrapped coin where others of their protocol have the coin itself: within a route to an exact output
 * nothing changes one into the other, and most of the liquidity is with the coin itself.
 */
function withoutWrappedForm(graph: PoolGraph): PoolGraph {
  const found = graphsWithoutWrapped.get(graph)
  if (found) return found
  const isWrapped = ({ protocol, pool }: Pick<PoolEdge, 'protocol' | 'pool'>) => protocol.coinForm?.(pool) === 'wrapped'
  const kept = graph.pools.filter((each) => !isWrapped(each))
  const made = kept.length === graph.pools.length ? graph : poolGraphOf(kept)
  graphsWithoutWrapped.set(graph, made)
  return made
}

/** The error that says why no route gives a price. `details.most` is the largest amount that the pools take or give, if it is known. */
function noPriceError(
  { graph, options, intermediates, version, ifNoPool, stopped }: PricingSnapshot,
  { tokenIn, tokenOut, exact, amountRaw }: Swap,
  query: RouteQuery,
  isTooLittle: boolean,
): SluiceError {
  const versionSets = options.versionSets.filter((versions) => isConnected(graph, query, versions))
  if (versionSets.length === 0) {
    const why = whyStopped(graph, query, options, stopped?.() ?? [])
    if (why !== undefined) {
      return new SluiceError(
        graph.isEmpty ? 'PAIR_NOT_FOUND' : 'PRICE_FAILED',
        `No pool from ${tokenIn.symbol} to ${tokenOut.symbol} can swap now. ${why}`,
      )
    }
    if (version === undefined && graph.isEmpty) {
      return new SluiceError(
        'PAIR_NOT_FOUND',
        `None of the pools that could lead from ${tokenIn.symbol} to ${tokenOut.symbol} exists on this network. Try another connector.${ifNoPool === undefined ? '' : ` ${ifNoPool}`}`,
      )
    }
    const through = intermediates.map(({ symbol }) => symbol).join(', ')
    const [kind, remedy] = version === undefined ? ['', 'Try'] : [` of version ${version}`, 'Leave version out, or try']
    return new SluiceError(
      'PRICE_FAILED',
      `The exchange has no pool${kind} from ${tokenIn.symbol} to ${tokenOut.symbol}, neither a direct one nor one through ${through || 'other tokens'}. ${remedy} another connector.`,
    )
  }
  const exactToken = exact === 'in' ? tokenIn : tokenOut
  if (isTooLittle) {
    return new SluiceError(
      'PRICE_FAILED',
      `${formatRaw(amountRaw, exactToken.decimals)} ${exactToken.symbol} is too little: it is worth less than the smallest unit of ${tokenOut.symbol}. Ask for a larger amount.`,
    )
  }
  if (versionSets.every((versions) => maxAmountIn(graph, query, versions) === 0n)) {
    return new SluiceError(
      'PRICE_FAILED',
      `The pools from ${tokenIn.symbol} to ${tokenOut.symbol} hold nothing that could be traded in this direction. Try another connector.`,
    )
  }
  const verb = exact === 'in' ? 'take' : 'give'
  const limits = versionSets.map((versions) => (exact === 'in' ? maxAmountIn : maxAmountOut)(graph, query, versions))
  const maxRaw = limits.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b))
  // An amount below the maximum was refused, so the cause is a later pool of the route.
  if (maxRaw === undefined || maxRaw >= amountRaw) {
    return new SluiceError(
      'PRICE_FAILED',
      `The pools cannot ${verb} that much ${exactToken.symbol}, at any price. Ask for a smaller amount.`,
    )
  }
  const most = formatRaw(maxRaw, exactToken.decimals)
  return new SluiceError(
    'PRICE_FAILED',
    `The pools cannot ${verb} that much: at most ${most} ${exactToken.symbol}, at any price. Ask for a smaller amount.`,
    { details: { token: exactToken.symbol, most } },
  )
}

/** Names a pool that exists and would connect the two tokens if it could swap. Undefined where there is none. */
function whyStopped(
  graph: PoolGraph,
  query: RouteQuery,
  { versionSets }: RouteOptions,
  stopped: readonly StoppedPool[],
): string | undefined {
  const known = stopped.flatMap((each) => each.known ?? [])
  const connects = (others: readonly KnownPool[]) => {
    const withThem = poolGraphOf([...graph.pools, ...others])
    return versionSets.some((versions) => isConnected(withThem, query, versions))
  }
  if (known[0] && connects(known)) return pausedWords((known.find((each) => connects([each])) ?? known[0]).pool.address)
  const reverting = stopped.find((each) => !each.known)
  return reverting && revertingWords(reverting.address)
}

const pausedWords = (address: string): string =>
  `The pool ${address} exists and takes no swaps now: it or its exchange may be paused. Wait, or try another connector.`

const revertingWords = (address: string): string =>
  `The contract ${address} exists, and reverts when it is read: the exchange may have paused it. Wait, or try another connector. If it is not paused, the plugin's ABI of the view that reads a pool is wrong: its author has to compare it with the chain.`

/** The error for a pool that was asked for by its address and gives no price. */
export function noSuchPool(pool: string, stopped: readonly StoppedPool[]): SluiceError {
  const found = stopped.find((each) => addressKey(each.address) === addressKey(pool))
  return new SluiceError(
    'PAIR_NOT_FOUND',
    found
      ? (found.known ? pausedWords : revertingWords)(found.address)
      : `The exchange has no pool ${pool} of these tokens with liquidity; GET /amm/pools lists those that it has.`,
  )
}

/** Whether pools of these versions connect the two tokens at all, whatever the amount. */
function isConnected(graph: PoolGraph, { tokenIn, tokenOut, intermediates }: RouteQuery, versions: ReadonlySet<string>): boolean {
  let reached: readonly string[] = [tokenIn]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const connects = (to: string) => reached.some((from) => edgesOf(graph, from, to, versions).length > 0)
    if (connects(tokenOut)) return true
    reached = intermediates.filter(connects)
  }
  return false
}

const edgesOf = (graph: PoolGraph, from: string, to: string, versions: ReadonlySet<string>) =>
  graph.edgesBetween(from, to).filter(({ protocol }) => versions.has(protocol.version))

/** The largest input, by the limits of the pools that a route can begin with. Undefined where one of them gives no limit. */
export function maxAmountIn(graph: PoolGraph, query: RouteQuery, versions: ReadonlySet<string>): bigint | undefined {
  const firstEdges = [query.tokenOut, ...query.intermediates].flatMap((token) => edgesOf(graph, query.tokenIn, token, versions))
  return maxOf(firstEdges.map(maxInputOf))
}

/**
 * The largest output, whatever it costs: the first pools take as much as they can, and the result is what arrives at the end. Undefined where a
 * pool gives no limit, or where no route gives that output after all.
 */
export function maxAmountOut(graph: PoolGraph, query: RouteQuery, versions: ReadonlySet<string>): bigint | undefined {
  const { tokenIn, tokenOut } = query
  const inner = innerTokens(query)
  let reached = new Map<string, bigint | 'unlimited'>([[tokenIn, 'unlimited']])
  let maxRaw = 0n
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next = new Map<string, bigint>()
    for (const to of hop < maxHops ? [...inner, tokenOut] : [tokenOut]) {
      const outputs = [...reached].flatMap(([from, availableRaw]) =>
        edgesOf(graph, from, to, versions).map((edge) => maxOutputOf(edge, availableRaw)),
      )
      const outputRaw = maxOf(outputs)
      if (outputRaw === undefined) return undefined
      if (to !== tokenOut) next.set(to, outputRaw)
      else if (outputRaw > maxRaw) maxRaw = outputRaw
    }
    reached = next
  }
  if (maxRaw === 0n) return undefined
  const { routes } = search(graph, { ...query, amountRaw: maxRaw }, versions, true)
  return routes.some(({ unknowns }) => unknowns.length === 0) ? maxRaw : undefined
}

const maxInputOf = ({ protocol, pool, passage }: PoolEdge) => protocol.mostIn?.(pool, passage)

function maxOutputOf(edge: PoolEdge, availableRaw: bigint | 'unlimited'): bigint | undefined {
  const maxInRaw = maxInputOf(edge)
  if (maxInRaw === undefined) return undefined
  // One unit less than fits, because contracts ask for one more than they need.
  const amountInRaw = (availableRaw === 'unlimited' || availableRaw > maxInRaw ? maxInRaw : availableRaw) - 1n
  if (amountInRaw <= 0n) return 0n
  const passed = edge.pass('in', amountInRaw)
  return passed && !('missing' in passed) ? passed.amountRaw : 0n
}

/** 0 for an empty list. Undefined where one amount is unknown. */
function maxOf(amounts: readonly (bigint | undefined)[]): bigint | undefined {
  return amounts.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b), 0n)
}
