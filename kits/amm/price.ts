import { formatUnits } from 'ethers'
import { type Head, type Hop, type Quote, type Swap, type Token, SluiceError } from '../../core/contracts/index.ts'
import { type MissingState, bestRoute, spotAlong, type RouteQuery, maxHops, search } from './routing/best-route.ts'
import { gasCostIn } from './routing/gas-cost.ts'
import type { PoolEdge, PoolGraph, RouteOptions } from './routing/graph.ts'
import { shareDecimal, wholeShare, bestSplit } from './routing/split.ts'

/** What a swap is quoted by: the pools that it may go through, after one block. */
interface PricingSnapshot {
  readonly head: Head
  readonly graph: PoolGraph
  readonly options: RouteOptions
  readonly version: string | undefined
  readonly wrapped: Token
  readonly intermediates: readonly Token[]
  /** Wei per gas. */
  readonly gasPriceRaw: bigint
}

interface PricedSwap {
  readonly quote: Quote
  readonly edges: readonly PoolEdge[]
}

export const poolToken = (token: Token, wrapped: Token): string => (token.native ? wrapped.address : token.address)

/** Another way beside the best is not waited for as long as the best itself: where a first quote has taken so many reads, it goes without. */
const forSplits = 2

/**
 * The best way over a board, or several at once, or what must be known to tell which it is; it can be read
 * `left` times yet, and what is unknown after that counts as unable.
 * @throws SluiceError PRICE_FAILED or PAIR_NOT_FOUND where no route gives anything
 */
export function priceSwap(board: PricingSnapshot, swap: Swap, left: number): PricedSwap | { readonly wanted: readonly MissingState[] } {
  const { head, graph: lanes, options: ways, version, wrapped, intermediates, gasPriceRaw } = board
  const { exact, amountRaw } = swap
  const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
  const course: RouteQuery = { tokenIn, tokenOut, intermediates: intermediates.map(({ address }) => address), exact, amountRaw }
  const gasCost = gasCostIn(exact === 'in' ? tokenOut : tokenIn, wrapped.address, lanes, gasPriceRaw)
  const { best, isTooLittle: tooLittle, missing: wanted } = bestRoute(lanes, course, ways, gasCost)
  const isWanting = wanted.length > 0 && left > 0
  if (!best && !isWanting)
    throw noPriceError({ swap, query: course, graph: lanes, options: ways, isTooLittle: tooLittle, intermediates, version })
  const split = best && bestSplit(lanes, { swap, query: course, routers: ways.routers, gasCost, best, isLastRead: left < forSplits })
  // What both want is read at once.
  if (split && 'wanted' in split) return { wanted: [...wanted, ...split.wanted] }
  if (!best || isWanting) return { wanted }
  const { amountRaw: otherRaw, gasUnits, firstWriteUnits, router } = split ?? best
  const parts = split?.parts ?? [{ edges: best.edges, share: wholeShare, exactRaw: amountRaw, otherRaw }]
  const quote: Quote = {
    swap,
    amountRaw: otherRaw,
    spotAmountRaw: parts.reduce((sum, part) => sum + spotAlong(part.edges, exact, part.exactRaw), 0n),
    gasUnits,
    firstWriteUnits,
    route: parts.flatMap((part) => part.edges.map((lane) => hopOf(lane, part.share))),
    ...(split && { parts: parts.map((part) => ({ hops: part.edges.length, exactRaw: part.exactRaw, otherRaw: part.otherRaw })) }),
    head,
    spender: router.address,
  }
  return { quote, edges: parts.flatMap((part) => part.edges) }
}

const hopOf = ({ protocol, pool, passage }: PoolEdge, share: number): Hop => ({
  pool: pool.address,
  version: protocol.version,
  tokenIn: passage.tokenIn,
  tokenOut: passage.tokenOut,
  fee: protocol.fee(pool),
  ...(share < wholeShare && { share: shareDecimal(share) }),
})

interface NoRoute {
  readonly swap: Swap
  readonly query: RouteQuery
  readonly graph: PoolGraph
  readonly options: RouteOptions
  /** A pool took the amount and gave nothing for it. */
  readonly isTooLittle: boolean
  readonly intermediates: readonly Token[]
  /** The only version that was asked for. */
  readonly version: string | undefined
}

/** Why no route gives a price, for the caller. `details.most` is what could be had, where that is the reason and known. */
function noPriceError({
  swap,
  query: course,
  graph: lanes,
  options: ways,
  isTooLittle: tooLittle,
  intermediates,
  version,
}: NoRoute): SluiceError {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const mixes = ways.versionSets.filter((mix) => leadsThrough(lanes, course, mix))
  if (mixes.length === 0) {
    if (version === undefined && lanes.isEmpty) {
      return new SluiceError(
        'PAIR_NOT_FOUND',
        `None of the pools that could lead from ${tokenIn.symbol} to ${tokenOut.symbol} exists on this network. Try another connector.`,
      )
    }
    const through = intermediates.map(({ symbol }) => symbol).join(', ')
    const [kind, cure] = version === undefined ? ['', 'Try'] : [` of version ${version}`, 'Leave version out, or try']
    return new SluiceError(
      'PRICE_FAILED',
      `The exchange has no pool${kind} from ${tokenIn.symbol} to ${tokenOut.symbol}, neither of the two nor through ${through || 'other tokens'}. ${cure} another connector.`,
    )
  }
  const limited = exact === 'in' ? tokenIn : tokenOut
  if (tooLittle) {
    return new SluiceError(
      'PRICE_FAILED',
      `${formatUnits(amountRaw, limited.decimals)} ${limited.symbol} is too little: it is worth less than the smallest unit of ${tokenOut.symbol}. Ask for a larger amount.`,
    )
  }
  const verb = exact === 'in' ? 'take' : 'give'
  const limits = mixes.map((mix) => (exact === 'in' ? maxAmountIn : maxAmountOut)(lanes, course, mix))
  const mostRaw = limits.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b))
  // Where less than the most is refused, it is a later pool that refuses it.
  if (mostRaw === undefined || mostRaw >= amountRaw) {
    return new SluiceError('PRICE_FAILED', `The pools cannot ${verb} that much ${limited.symbol}, at any price. Ask for a smaller amount.`)
  }
  const most = formatUnits(mostRaw, limited.decimals)
  return new SluiceError(
    'PRICE_FAILED',
    `The pools cannot ${verb} that much: at most ${most} ${limited.symbol}, at any price. Ask for a smaller amount.`,
    { details: { token: limited.symbol, most } },
  )
}

/** Whether pools of these versions connect the two at all, for whatever amount. */
function leadsThrough(lanes: PoolGraph, { tokenIn, tokenOut, intermediates: between }: RouteQuery, versions: ReadonlySet<string>): boolean {
  let here: readonly string[] = [tokenIn]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const connects = (to: string) =>
      here.some((from) => lanes.edgesBetween(from, to).some(({ protocol }) => versions.has(protocol.version)))
    if (connects(tokenOut)) return true
    here = between.filter(connects)
  }
  return false
}

/** The most that an exact amount in may be, by the pools that it could go into first; undefined where one of them does not say. */
export function maxAmountIn(
  lanes: PoolGraph,
  { tokenIn, tokenOut, intermediates: between }: RouteQuery,
  versions: ReadonlySet<string>,
): bigint | undefined {
  const first = [tokenOut, ...between].flatMap((token) => taking(lanes, tokenIn, token, versions))
  return greatest(first.map(roomOf))
}

/**
 * The most that an exact amount out may be, whatever it costs: all that goes into the first pools, and what comes of it at
 * the end. Undefined where a pool does not say what goes into it, or the result cannot be had after all.
 */
export function maxAmountOut(lanes: PoolGraph, course: RouteQuery, versions: ReadonlySet<string>): bigint | undefined {
  const { tokenIn, tokenOut, intermediates: between } = course
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  let here = new Map<string, bigint | 'unlimited'>([[tokenIn, 'unlimited']])
  let mostRaw = 0n
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next = new Map<string, bigint>()
    for (const to of hop < maxHops ? [...via, tokenOut] : [tokenOut]) {
      const given: (bigint | undefined)[] = [...here].flatMap(([from, heldRaw]) =>
        taking(lanes, from, to, versions).map((lane) => givenAtMost(lane, heldRaw)),
      )
      const reachedRaw = greatest(given)
      if (reachedRaw === undefined) return undefined
      if (to !== tokenOut) next.set(to, reachedRaw)
      else if (reachedRaw > mostRaw) mostRaw = reachedRaw
    }
    here = next
  }
  const had =
    mostRaw > 0n &&
    search(lanes, { ...course, amountRaw: mostRaw }, versions, true).routes.some(({ unknowns: doubts }) => doubts.length === 0)
  return had ? mostRaw : undefined
}

const taking = (lanes: PoolGraph, from: string, to: string, versions: ReadonlySet<string>) =>
  from === to ? [] : lanes.edgesBetween(from, to).filter(({ protocol }) => versions.has(protocol.version))

const roomOf = ({ protocol, pool, passage }: PoolEdge) => protocol.mostIn?.(pool, passage)

function givenAtMost(lane: PoolEdge, heldRaw: bigint | 'unlimited'): bigint | undefined {
  const roomRaw = roomOf(lane)
  if (roomRaw === undefined) return undefined
  // One less than fits, since contracts ask for one more than they need.
  const amountInRaw = (heldRaw === 'unlimited' || heldRaw > roomRaw ? roomRaw : heldRaw) - 1n
  if (amountInRaw <= 0n) return 0n
  const passed = lane.pass('in', amountInRaw)
  return passed && !('missing' in passed) ? passed.amountRaw : 0n
}

/** Nothing of none; undefined where one is unknown. */
function greatest(amounts: readonly (bigint | undefined)[]): bigint | undefined {
  return amounts.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b), 0n)
}
