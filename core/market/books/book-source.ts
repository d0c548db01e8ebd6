import type { BookMarket, FollowedBooks } from '../../contracts/index.ts'
import type { Source } from '../../live-state/tracked-states.ts'
import type { Place } from '../../live-state/telemetry.ts'
import { readBook } from './read-book.ts'

/** The books of one exchange on a chain, as they are followed. */
export interface BookSource extends Source {
  keyOf(market: BookMarket): string
}

export function createBookSource(books: FollowedBooks, place: Place): BookSource {
  const markets = new Map<string, BookMarket>()
  return {
    place,
    followed: books,
    keyOf(market) {
      const key = books.keyOfMarket(market)
      markets.set(key, market)
      return key
    },
    // What was traded last cannot always be read again: it is no part of the book.
    same(key, inMemory, loaded) {
      const market = markets.get(key)
      if (!market || loaded === undefined) return false
      const [ours, theirs] = [inMemory, loaded].map((state) => {
        const { buys, sells } = readBook(books.show(state, market))
        return JSON.stringify([buys, sells])
      })
      return ours === theirs
    },
  }
}
