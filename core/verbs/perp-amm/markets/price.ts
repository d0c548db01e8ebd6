import { fromRaw } from '../../../decimal.ts'
import { showGas } from '../../fees.ts'
import { perpOf, requireOpen } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'
import { orderPrice, readPerpOrder, showSize } from '../trade/read-order.ts'
import { showPrices } from './market-prices.ts'

export const price: PerpVerb<'Price'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = perpOf(venue)
  const order = await readPerpOrder(request, venue, at)
  const { market, quoteRaw, feeRaw, prices, gasUnits, head } = await perp.quote(order, undefined, at)
  requireOpen(market, 'PRICE_FAILED')
  return {
    quote: market.quote,
    base: market.base,
    side: order.side,
    amount: showSize(order),
    price: orderPrice(order, quoteRaw),
    expectedAmount: fromRaw(quoteRaw, market.quoteDecimals),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    ...showPrices(prices),
    ...showGas(await network.impl.gas(gasUnits, head, at), network),
    blockNumber: Number(head.number),
  }
}
