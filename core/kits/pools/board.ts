import type { Head, Quote, Swap, Token } from '../../contracts/index.ts'
import { noPrice } from './no-price.ts'
import type { Wanted } from './routing/arrival.ts'
import { bestRoute, spotAlong } from './routing/best-route.ts'
import type { Course } from './routing/explore.ts'
import { gasCostIn } from './routing/gas-cost.ts'
import type { Lane, Lanes } from './routing/lanes.ts'
import type { Ways } from './routing/ways.ts'

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

/**
 * The best route over a board, or what must be known to tell which it is; not where it is the `last` time, when what is unknown counts as
 * unable.
 * @throws SluiceError PRICE_FAILED or PAIR_NOT_FOUND where no route gives anything
 */
export function price(board: Board, swap: Swap, last: boolean): Priced | { readonly wanted: readonly Wanted[] } {
  const { head, lanes, ways, version, wrapped, intermediates, gasPriceRaw } = board
  const { exact, amountRaw } = swap
  const [tokenIn, tokenOut] = [poolToken(swap.tokenIn, wrapped), poolToken(swap.tokenOut, wrapped)]
  const course: Course = { tokenIn, tokenOut, between: intermediates.map(({ address }) => address), exact, amountRaw }
  const gasCost = gasCostIn(exact === 'in' ? tokenOut : tokenIn, wrapped.address, lanes, gasPriceRaw)
  const { best, tooLittle, wanted } = bestRoute(lanes, course, ways, gasCost)
  if (wanted.length > 0 && !last) return { wanted }
  if (!best) throw noPrice({ swap, course, lanes, ways, tooLittle, intermediates, version })
  const quote: Quote = {
    swap,
    amountRaw: best.amountRaw,
    spotAmountRaw: spotAlong(best.lanes, exact, amountRaw),
    gasUnits: best.gasUnits,
    route: best.lanes.map(({ protocol, pool, passage }) => ({
      pool: pool.address,
      version: protocol.version,
      tokenIn: passage.tokenIn,
      tokenOut: passage.tokenOut,
      fee: protocol.fee(pool),
    })),
    head,
    spender: best.router.address,
  }
  return { quote, lanes: best.lanes }
}
