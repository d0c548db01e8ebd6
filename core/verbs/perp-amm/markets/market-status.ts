import { showRatio } from '../../../handlers/perp/figures.ts'
import { findMarket, perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const marketStatus: PerpVerb<'MarketStatus'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { market, head } = await perpOf(venue).prices(await findMarket(request, venue, at), at)
  const { status, maxLeverage } = market
  return { isActive: status === 'open', status, maxLeverage: showRatio(maxLeverage, 'down'), blockNumber: Number(head.number) }
}
