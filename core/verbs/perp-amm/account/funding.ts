import { readAddress } from '../../../handlers/wallets.ts'
import { fromSigned, showRatio } from '../../../handlers/perp/figures.ts'
import { perpOf, tickerOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const funding: PerpVerb<'Funding'> = async (request, { network, venue, signal }) => {
  const perp = perpOf(venue)
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { funding: markets, head } = await perp.funding(owner, { signal })
  const shown = markets.map(({ market, rate, periodSeconds, index, mark, pendingRaw, nextAt }) => ({
    tickerSymbol: tickerOf(market),
    fundingRate: showRatio(rate, 'down'),
    fundingPeriodSeconds: periodSeconds,
    indexPrice: showRatio(index, 'down'),
    markPrice: showRatio(mark, 'down'),
    pendingFundingPayment: fromSigned(pendingRaw, market.quoteDecimals),
    ...(nextAt !== undefined && { nextFundingTimestamp: nextAt * 1000 }),
  }))
  return { funding: shown, blockNumber: Number(head.number) }
}
