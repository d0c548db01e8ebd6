import type { BookMarket, BookTrade } from '../../../contracts/index.ts'
import { priceOf } from '../books/state.ts'
import { amountText } from '../../../../kits/oasis/decimal.ts'
import type { OfferLog } from './offer-logs.ts'
import type { OwnOffer } from '../../../../kits/oasis/own-orders.ts'

/** What was taken of offers, newest first, as who came to the book has it. `offers`: theirs that came of the same calls. */
export function tradesOfTakers(takes: readonly OfferLog[], market: BookMarket, offers: readonly OwnOffer[] = []): readonly BookTrade[] {
  const ids = new Map(offers.flatMap(({ id, atOnce }) => atOnce.map((take) => [take, id] as const)))
  return trades(takes, market, 'taker', (take) => ids.get(take))
}

/** The same as those have it whose offers they were. */
export const tradesOfMakers = (takes: readonly OfferLog[], market: BookMarket): readonly BookTrade[] =>
  trades(takes, market, 'maker', ({ id }) => id)

function trades(
  takes: readonly OfferLog[],
  market: BookMarket,
  who: 'maker' | 'taker',
  orderOf: (take: OfferLog) => string | undefined,
): readonly BookTrade[] {
  const seen = new Map<string, number>()
  return takes
    .filter(({ pair }) => pair.id === market.id)
    .map((take): BookTrade => {
      const { id, pair, side: offered, baseRaw, quoteRaw, timestamp, txHash } = take
      const side = (offered === 'sells') === (who === 'maker') ? 'SELL' : 'BUY'
      // One transaction may take several parts of an offer.
      const name = `${txHash}-${id}`
      const count = (seen.get(name) ?? 0) + 1
      seen.set(name, count)
      const orderId = orderOf(take)
      return {
        tradeId: count === 1 ? name : `${name}-${count}`,
        ...(orderId !== undefined && { orderId }),
        market,
        side,
        price: priceOf(pair, quoteRaw, baseRaw, side === 'BUY' ? 'up' : 'down'),
        amount: amountText(baseRaw, pair.base.decimals),
        fee: '0',
        feeToken: pair.quote.symbol,
        timestamp,
        txHash,
      }
    })
    .toReversed()
}
