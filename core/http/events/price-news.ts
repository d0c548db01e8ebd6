import { SluiceError, type PriceNews } from '../../api/index.ts'
import type { QuoteNews, Quotes, QuoteVenue } from '../../market/index.ts'
import { choiceOf, showOrder, swapOf, type Order } from '../../verbs/amm/swap.ts'
import { fromRaw } from '../../verbs/amounts.ts'
import { createSharedNews, type SharedNews } from './shared-news.ts'

/** A price that somebody wants to hear of. */
export interface NamedPrice {
  readonly venue: QuoteVenue
  readonly order: Order
  readonly version: string | undefined
  /** As it was asked for, by which it is told. */
  readonly asked: string
}

export const createPriceNews = (quotes: Pick<Quotes, 'follow'>): SharedNews<NamedPrice> =>
  createSharedNews<NamedPrice, QuoteNews>({
    event: 'price',
    keyOf: ({ venue: { chain, network, connector }, version = '', asked }) => JSON.stringify([chain, network, connector, version, asked]),
    follow: ({ venue, order, version }, changed) => quotes.follow(venue, swapOf(order), choiceOf(version), changed),
    show,
  })

function show({ venue: { chain, network, connector }, order, version, asked }: NamedPrice, news: QuoteNews): PriceNews {
  const { base, quote, side, amountRaw } = order
  const of = {
    asked,
    chain,
    network,
    connector,
    ...(version !== undefined && { version }),
    base: base.address,
    quote: quote.address,
    side,
    amount: fromRaw(amountRaw, base.decimals),
  }
  if (news === undefined) return { ...of, stale: true, timestamp: Date.now() }
  if (news instanceof SluiceError) {
    const { code: errorCode, name, message } = news
    return { ...of, error: { errorCode, name, message }, timestamp: Date.now() }
  }
  const { expectedAmount, price } = showOrder(order, news)
  const { route, head } = news
  return {
    ...of,
    price,
    expectedAmount,
    route: [...route],
    blockNumber: Number(head.number),
    timestamp: head.timestamp * 1000,
    source: 'memory',
  }
}
