import type { At, PerpOrder } from '../../../contracts/index.ts'
import { fromRaw, valueAt } from '../../../decimal.ts'
import type { VenueEntry } from '../../../handlers/registry.ts'
import { readPositiveRaw } from '../../../handlers/tokens.ts'
import { priceIn, showRatio } from '../../../handlers/perp/figures.ts'
import { findMarket } from '../../../handlers/perp/markets.ts'

interface OrderFields {
  base: string
  quote: string
  amount: string
  side: 'LONG' | 'SHORT' | 'BUY' | 'SELL'
}

/** A request's order, with its market found and its size in smallest units. */
export async function readPerpOrder(request: OrderFields, venue: VenueEntry, at: At): Promise<PerpOrder> {
  const market = await findMarket(request, venue, at)
  const side = request.side === 'LONG' || request.side === 'BUY' ? 'LONG' : 'SHORT'
  const { base: symbol, baseDecimals: decimals, id: address } = market
  return { market, side, sizeRaw: readPositiveRaw(request.amount, { symbol, decimals, address }, 'amount') }
}

/** What was quoted for an order, as slippage and limits see it. */
export const quotedOf = ({ side }: PerpOrder, quoteRaw: bigint) =>
  ({ swap: { exact: side === 'LONG' ? 'out' : 'in' }, amountRaw: quoteRaw }) as const

/** Quote per one base, rounded against optimism: up for a LONG, down for a SHORT. */
export const orderPrice = ({ market, side, sizeRaw }: PerpOrder, quoteRaw: bigint): string =>
  showRatio(priceIn(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down')

/** The limit for the whole size in the market's quote: at most this much for a LONG, at least this much for a SHORT. */
export function limitOf({ market, side, sizeRaw }: PerpOrder, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: sizeRaw, decimals: market.baseDecimals }, market.quoteDecimals, side === 'LONG' ? 'down' : 'up')
}

/** What answers show of an order. */
export const showSize = ({ market, sizeRaw }: PerpOrder) => fromRaw(sizeRaw, market.baseDecimals)
