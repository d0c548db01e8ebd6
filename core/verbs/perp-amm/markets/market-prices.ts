import type { PerpPrices } from '../../../contracts/index.ts'
import { showRatio } from '../../../handlers/perp/figures.ts'
import { findMarket, perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const marketPrices: PerpVerb<'MarketPrices'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { prices, head } = await perpOf(venue).prices(await findMarket(request, venue, at), at)
  return { ...showPrices(prices), blockNumber: Number(head.number) }
}

export const showPrices = ({ mark, index, indexTwap }: PerpPrices) => ({
  markPrice: showRatio(mark, 'down'),
  indexPrice: showRatio(index, 'down'),
  indexTwapPrice: showRatio(indexTwap, 'down'),
})
