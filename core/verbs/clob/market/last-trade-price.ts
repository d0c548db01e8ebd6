import { SluiceError } from '../../../api/index.ts'
import type { BookVerb } from '../book-verb.ts'
import { viewOf } from './book-view.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const lastTradePrice: BookVerb<'LastTradePrice'> = async (request, context) => {
  const at = { signal: context.signal }
  const market = (await marketsOf('PERP_CLOB', context.venue, at)).find(request.market)
  const { lastPrice, timestamp } = await viewOf('PERP_CLOB', market, context, at)
  if (lastPrice === undefined) throw new SluiceError('PRICE_FAILED', `${context.venue.connector} tells of no trade in ${nameOf(market)}.`)
  return { market: nameOf(market), lastTradePrice: lastPrice, timestamp }
}
