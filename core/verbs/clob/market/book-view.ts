import type { BookSet } from '../../../api/index.ts'
import type { At, BookMarket } from '../../../contracts/index.ts'
import type { BookVenue, BookView } from '../../../live-state/book-feed.ts'
import type { On, Services } from '../../../handlers/context.ts'
import { bookOf } from '../book-type.ts'

/** Where books are followed, as the market's memory knows it. */
export function bookVenue(type: BookSet, { network: { chain, network, impl }, venue }: On<'connector'>): BookVenue {
  return { chain, network, connector: venue.connector, type, books: bookOf(type, venue).books, chainImpl: impl }
}

/** The book from memory. @throws SluiceError NETWORK where it is stale */
export const viewOf = (type: BookSet, market: BookMarket, context: { services: Services } & On<'connector'>, at: At): Promise<BookView> =>
  context.services.books.book(bookVenue(type, context), market, at)
