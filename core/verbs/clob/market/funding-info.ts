import { bookOf } from '../book-type.ts'
import type { BookVerb } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const fundingInfo: BookVerb<'FundingInfo'> = async (request, { venue, signal }) => {
  const at = { signal }
  const market = (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const { fundingRate, indexPrice, markPrice, nextFundingTimestamp } = await bookOf('PERP_CLOB', venue).prices(market, at)
  return {
    market: nameOf(market),
    fundingRate: plain(fundingRate),
    indexPrice: plain(indexPrice),
    markPrice: plain(markPrice),
    nextFundingTimestamp,
  }
}
