import type { OrderBookNews } from '../../api/index.ts'
import type { BookMarket } from '../../contracts/index.ts'
import type { Books, BookVenue, BookView } from '../../market/index.ts'
import { nameOf } from '../../verbs/clob/market/find-market.ts'
import type { News } from './frame.ts'

/** A book that somebody wants to hear of, and how much of it. */
export interface NamedBook {
  readonly venue: BookVenue
  readonly market: BookMarket
  readonly depth: number
}

interface Followed {
  view: BookView | undefined
  /** Undefined until it is asked for after a change: what nobody takes is not written. */
  news: News | undefined
  heard: boolean
  readonly rings: Set<() => void>
  readonly end: () => void
}

export interface BookNews {
  /** Rings at every change of a book, until `end` is called. `newest`: undefined while nothing can be said. */
  follow(book: NamedBook, ring: () => void): { newest(): News | undefined; end(): void }
}

/** Follows each book that somebody wants to hear of once, for all of them. */
export function createBookNews(books: Books): BookNews {
  const followed = new Map<string, Followed>()

  function start(key: string, { venue, market }: NamedBook): Followed {
    let end = () => {}
    const each: Followed = { view: undefined, news: undefined, heard: false, rings: new Set(), end: () => end() }
    end = books.follow(venue, market, (view) => {
      each.view = view
      each.news = undefined
      each.heard = true
      for (const ring of each.rings) ring()
    })
    followed.set(key, each)
    return each
  }

  return {
    follow(book, ring) {
      const { chain, network, connector, type } = book.venue
      const key = [chain, network, connector, type, book.market.id, book.depth].join('/')
      const each = followed.get(key) ?? start(key, book)
      // One bell may ring for several.
      const mine = () => ring()
      each.rings.add(mine)
      return {
        newest() {
          if (each.heard) each.news ??= { event: 'orderBook', json: JSON.stringify(shown(book, each.view)) }
          return each.news
        },
        end() {
          each.rings.delete(mine)
          if (each.rings.size > 0 || followed.get(key) !== each) return
          followed.delete(key)
          each.end()
        },
      }
    },
  }
}

function shown({ venue: { chain, network, connector, type }, market, depth }: NamedBook, view: BookView | undefined): OrderBookNews {
  const of = { chain, network, connector, type, market: nameOf(market) }
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
