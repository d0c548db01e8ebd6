import { SluiceError, type BookSet, type AnswerOf, type EndpointName, type EndpointNamed, type RequestOf } from '../../api/index.ts'
import type { At, BookMarket, CLOB, MarginCLOB, PerpCLOB } from '../../contracts/index.ts'
import type { BookVenue, BookView } from '../../live-state/book-feed.ts'
import type { RequestContext, TargetContext, Services } from '../context.ts'
import type { VenueEntry } from '../registry.ts'
import { didYouMean } from '../tokens.ts'

/** WETH-USDC */
export const marketName = ({ base, quote }: Pick<BookMarket, 'base' | 'quote'>) => `${base}-${quote}`

/** Lists are long and asked for all the time; an exchange gives the same one until it reads it anew. */
const byName = new WeakMap<readonly BookMarket[], ReadonlyMap<string, BookMarket>>()

function named(markets: readonly BookMarket[]): ReadonlyMap<string, BookMarket> {
  const known = byName.get(markets)
  if (known) return known
  const made = new Map(markets.map((market) => [marketName(market).toUpperCase(), market]))
  byName.set(markets, made)
  return made
}

/** Markets by the names that callers write, in any letter case. */
export interface Markets {
  readonly all: readonly BookMarket[]
  /** @throws SluiceError UNKNOWN_ORDER */
  find(name: string): BookMarket
}

export async function marketsOf(type: BookSet, venue: Pick<VenueEntry, 'impl' | 'connector'>, at: At): Promise<Markets> {
  const all = await bookOf(type, venue).markets(at)
  return {
    all,
    find(name) {
      const found = named(all).get(name.toUpperCase())
      if (found) return found
      const guess = didYouMean(name.toUpperCase(), [...named(all).keys()])
      throw new SluiceError('UNKNOWN_ORDER', `${venue.connector} has no market ${name}${guess}; GET ${basePaths[type]}/markets lists them.`)
    },
  }
}

/** What the implementation of each kind of order book is. */
interface Books {
  CLOB: CLOB
  MARGIN_CLOB: MarginCLOB
  PERP_CLOB: PerpCLOB
}

/** Where the endpoints of each kind are. */
export const basePaths = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookSet, string>

/** @throws SluiceError UNSUPPORTED */
export function bookOf<T extends BookSet>(type: T, { impl, connector }: Pick<VenueEntry, 'impl' | 'connector'>): Books[T] {
  const books: Partial<Books> = impl
  const book = books[type]
  if (book) return book
  throw new SluiceError('UNSUPPORTED', `The connector ${connector} has no trading type ${type}; GET /plugins shows what it has.`)
}

type Name = EndpointName extends infer N ? (N extends `CLOBPerp${infer V}` ? V : never) : never
type Of<V extends Name> = EndpointNamed<`CLOBPerp${V}`>

/** The function behind one endpoint of every kind of order book: what is asked of perpetuals is all that can be asked. */
export type BookHandler<V extends Name> = (
  request: RequestOf<Of<V>>,
  context: RequestContext & { services: Services } & TargetContext<'connector'>,
) => Promise<AnswerOf<Of<V>>>

/** A verb, by the kind of book that it is for. */
export type BookHandlerFor<V extends Name> = (type: BookSet) => BookHandler<V>

/** Where books are followed, as the market's memory knows it. */
function toBookVenue(type: BookSet, { network: { chain, network, impl }, venue }: TargetContext<'connector'>): BookVenue {
  return { chain, network, connector: venue.connector, type, books: bookOf(type, venue).books, chainImpl: impl }
}

/** The book from memory. @throws SluiceError NETWORK where it is stale */
export const readBookView = (
  type: BookSet,
  market: BookMarket,
  context: { services: Services } & TargetContext<'connector'>,
  at: At,
): Promise<BookView> => context.services.books.book(toBookVenue(type, context), market, at)
