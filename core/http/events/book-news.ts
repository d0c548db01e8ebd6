import type { OrderBookNews } from '../../api/index.ts'
import type { BookMarket } from '../../contracts/index.ts'
import type { Books } from '../../live-state/books.ts'
import type { BookVenue, NewestBook } from '../../live-state/book-feed.ts'
import { nameOf } from '../../handlers/clob/markets.ts'
import { createSharedNews, type SharedNews } from '../../events/topic.ts'

/** A book that somebody wants to hear of, and how much of it. */
export interface NamedBook {
  readonly venue: BookVenue
  readonly market: BookMarket
  readonly depth: number
}

export const createBookNews = (books: Pick<Books, 'follow'>): SharedNews<NamedBook> =>
  createSharedNews<NamedBook, NewestBook>({
    event: 'orderBook',
    keyOf: ({ venue: { chain, network, connector, type }, market, depth }) => [chain, network, connector, type, market.id, depth].join('/'),
    follow: ({ venue, market }, changed) => books.follow(venue, market, changed),
    show,
  })

function show({ venue: { chain, network, connector, type }, market, depth }: NamedBook, newest: NewestBook): OrderBookNews {
  const of = { chain, network, connector, type, market: nameOf(market) }
  const view = newest()
  if (!view) return { ...of, stale: true, buys: [], sells: [], timestamp: Date.now() }
  const { buys, sells, sequence, timestamp, blockNumber } = view
  return {
    ...of,
    buys: buys.slice(0, depth),
    sells: sells.slice(0, depth),
    sequence,
    timestamp,
    ...(blockNumber !== undefined && { blockNumber }),
  }
}
