import type { Head, Hop, Quote, Swap, Token } from '../../core/contracts/index.ts'
import { noPrice } from '../../core/kits/pools/no-price.ts'
import type { Wanted } from '../../core/kits/pools/routing/arrival.ts'
import { bestRoute, spotAlong } from '../../core/kits/pools/routing/best-route.ts'
import type { Course } from './routing/best-route.ts'
import { gasCostIn } from './routing/gas-cost.ts'
import type { Lane, Lanes } from './routing/graph.ts'
import { shareDecimal, wholeShare } from '../../core/kits/pools/routing/share.ts'
import { bestSplit } from './routing/split.ts'
import type { Ways } from '../../core/kits/pools/routing/ways.ts'

/** What a swap is quoted by: the pools that it may go through, after one block. */
export interface Board {
  readonly head: Head
  readonly lanes: Lanes
  readonly ways: Ways
  readonly version: string | undefined
  readonly wrapped: Token
  readonly intermediates: readonly Token[]
  /** Wei per gas. */
  readonly gasPriceRaw: bigint
}

export interface Priced {
  readonly quote: Quote
  readonly lanes: readonly Lane[]
}

export const poolToken = (token: Token, wrapped: Token): string => (token.native ? wrapped.address : token.address)

/** Another way beside the best is not waited for as long as the best itself: where a first quote has taken so many reads, it goes without. */
const forSplits = 2

/**
 * The best way over a board, or several at once, or what must be known to tell which it is; it can be read
 * `left` times yet, and what is unknown after that counts as unable.
 * @throws SluiceError PRICE_FAILED or PAIR_NOT_FOUND where no route gives anything
 */
export function price(board: Board, swap: Swap, left: number): Priced | { readonly wanted: readonly Wanted[] } {
  const { head, lanes, ways, version, wrapped, intermediates, gasPriceRaw } = board
  const { exact, amountRaw } = swap
  const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
  const course: Course = { tokenIn, tokenOut, between: intermediates.map(({ address }) => address), exact, amountRaw }
  const gasCost = gasCostIn(exact === 'in' ? tokenOut : tokenIn, wrapped.address, lanes, gasPriceRaw)
  const { best, tooLittle, wanted } = bestRoute(lanes, course, ways, gasCost)
  const isWanting = wanted.length > 0 && left > 0
  if (!best && !isWanting) throw noPrice({ swap, course, lanes, ways, tooLittle, intermediates, version })
  const split = best && bestSplit(lanes, { swap, course, routers: ways.routers, gasCost, best, last: left < forSplits })
  // What both want is read at once.
  if (split && 'wanted' in split) return { wanted: [...wanted, ...split.wanted] }
  if (!best || isWanting) return { wanted }
  const { amountRaw: otherRaw, gasUnits, firstWriteUnits, router } = split ?? best
  const parts = split?.parts ?? [{ lanes: best.lanes, share: wholeShare, exactRaw: amountRaw, otherRaw }]
  const quote: Quote = {
    swap,
    amountRaw: otherRaw,
    spotAmountRaw: parts.reduce((sum, part) => sum + spotAlong(part.lanes, exact, part.exactRaw), 0n),
    gasUnits,
    firstWriteUnits,
    route: parts.flatMap((part) => part.lanes.map((lane) => hopOf(lane, part.share))),
    ...(split && { parts: parts.map((part) => ({ hops: part.lanes.length, exactRaw: part.exactRaw, otherRaw: part.otherRaw })) }),
    head,
    spender: router.address,
  }
  return { quote, lanes: parts.flatMap((part) => part.lanes) }
}

const hopOf = ({ protocol, pool, passage }: Lane, share: number): Hop => ({
  pool: pool.address,
  version: protocol.version,
  tokenIn: passage.tokenIn,
  tokenOut: passage.tokenOut,
  fee: protocol.fee(pool),
  ...(share < wholeShare && { share: shareDecimal(share) }),
})
