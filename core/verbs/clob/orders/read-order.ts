import { SluiceError, type BookSet } from '../../../api/index.ts'
import type { At, BookMarket, NewOrder } from '../../../contracts/index.ts'
import type { On, Services } from '../../../handlers/context.ts'
import { effectiveSlippage } from '../../../handlers/slippage.ts'
import { larger, plain } from '../figures/exact.ts'
import { viewOf } from '../market/book-view.ts'
import { checkOrder, requireNotional } from '../../../handlers/clob/read-order.ts'
import { callersLimit, slippageLimit, type MarketBound } from './market-bound.ts'
import { sideOf, type OrderFields } from './order-fields.ts'

type Context = { services: Services } & On<'connector'>

/** A request's order as it is sent: checked against the market, a MARKET order with its bound. */
export async function readOrder(
  type: BookSet,
  fields: OrderFields & { clientOrderId: string },
  market: BookMarket,
  context: Context,
  at: At,
): Promise<NewOrder> {
  const timeInForce = checkOrder(fields, market)
  const { clientOrderId, orderType, amount, price, leverage, reduceOnly } = fields
  return {
    clientOrderId,
    side: sideOf(fields),
    orderType,
    timeInForce,
    price: price === undefined ? await boundOf(type, fields, market, context, at) : plain(price),
    amount: plain(amount),
    ...(leverage !== undefined && { leverage: plain(leverage) }),
    ...(reduceOnly === true && { reduceOnly }),
  }
}

/** What a MARKET order may be filled at, at worst. */
async function boundOf(type: BookSet, fields: OrderFields, market: BookMarket, context: Context, at: At): Promise<string> {
  const { limitPrice } = fields
  const side = sideOf(fields)
  const slippage = effectiveSlippage(context.venue.config, [], fields.allowedSlippage)
  const book = viewOf(type, market, context, at)
  const bound: MarketBound =
    limitPrice === undefined
      ? slippageLimit(side, market, await book, slippage)
      : callersLimit(side, market, await book.catch(noBook), limitPrice)
  // The exchange may reckon by either: what would pass by one of them is left to it.
  requireNotional(fields, market, larger(bound.price, bound.reference ?? '0'))
  return bound.price
}

/** With a limit of the caller's the book is not needed: the exchange holds it. */
function noBook(error: unknown): undefined {
  if (!(error instanceof SluiceError) || error.http < 503) throw error
}
