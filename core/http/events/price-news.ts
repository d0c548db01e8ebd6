import { SluiceError, type PriceNews } from '../../api/index.ts'
import type { QuoteNews } from '../../market/quotes/quote-news.ts'
import type { Quotes, QuoteVenue } from '../../live-state/quotes.ts'
import { choiceOf, orderPrice, swapOf, type Order } from '../../verbs/amm/swap.ts'
import { fromRaw } from '../../decimal.ts'
import { createSharedNews, type SharedNews } from '../../events/topic.ts'

/** A price that somebody wants to hear of. */
export interface NamedPrice {
  readonly venue: QuoteVenue
  readonly order: Order
  readonly version: string | undefined
  /** As it was asked for, by which it is told. */
  readonly asked: string
}

/** What each event of it says. */
type About = Pick<PriceNews, 'asked' | 'chain' | 'network' | 'connector' | 'version' | 'base' | 'quote' | 'side' | 'amount'>

export function createPriceNews(quotes: Pick<Quotes, 'follow'>): SharedNews<NamedPrice> {
  const abouts = new WeakMap<NamedPrice, About>()

  function aboutOf(named: NamedPrice): About {
    const known = abouts.get(named) ?? about(named)
    abouts.set(named, known)
    return known
  }

  return createSharedNews<NamedPrice, QuoteNews>({
    event: 'price',
    keyOf: ({ venue: { chain, network, connector }, version = '', asked }) => JSON.stringify([chain, network, connector, version, asked]),
    follow: ({ venue, order, version }, changed) => quotes.follow(venue, swapOf(order), choiceOf(version), changed),
    show: (named, news) => ({ ...aboutOf(named), ...show(named, news) }),
  })
}

function about({ venue: { chain, network, connector }, order, version, asked }: NamedPrice): About {
  const { base, quote, side, amountRaw } = order
  return {
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
}

function show({ order }: NamedPrice, news: QuoteNews): Omit<PriceNews, keyof About> {
  if (news === undefined) return { stale: true, timestamp: Date.now() }
  if (news instanceof SluiceError) {
    const { code: errorCode, name, message } = news
    return { error: { errorCode, name, message }, timestamp: Date.now() }
  }
  const { amountRaw, route, head } = news
  return {
    price: orderPrice(order, amountRaw),
    expectedAmount: fromRaw(amountRaw, order.quote.decimals),
    route: [...route],
    blockNumber: Number(head.number),
    timestamp: head.timestamp * 1000,
    source: 'memory',
  }
}
