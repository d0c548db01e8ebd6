import type { AnswerOf, BookSet, EndpointName, EndpointByName, RequestOf } from '../../api/index.ts'
import { didYouMean } from '../../config/problems.ts'
import type { At, BookMarket } from '../../contracts/index.ts'
import { SluiceError } from '../../base/errors.ts'
import type { BookVenue, BookView } from '../../live-state/book-feed.ts'
import type { ConnectorContext } from '../context.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'

type Name = EndpointName extends infer N ? (N extends `CLOBPerp${infer V}` ? V : never) : never
type Of<V extends Name> = EndpointByName<`CLOBPerp${V}`>

/** The handler behind one endpoint of every kind of order book. Perpetuals have all fields that the other kinds have. */
export type BookHandler<V extends Name> = (request: RequestOf<Of<V>>, context: ConnectorContext) => Promise<AnswerOf<Of<V>>>

export type BookHandlerFor<V extends Name> = (type: BookSet) => BookHandler<V>

/** The paths of each kind's endpoints. */
export const basePaths = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookSet, string>

export const bookSets = ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'] as const satisfies readonly BookSet[]

/** WETH-USDC */
export const marketName = ({ base, quote }: Pick<BookMarket, 'base' | 'quote'>) => `${base}-${quote}`

/** Markets by name, in any letter case. */
export interface Markets {
  readonly all: readonly BookMarket[]
  /** @throws SluiceError UNKNOWN_ORDER */
  find(name: string): BookMarket
}

export async function marketsOf(type: BookSet, venue: Pick<VenueEntry, 'impl' | 'connector'>, at: At): Promise<Markets> {
  const all = await tradingOf(type, venue).markets(at)
  return {
    all,
    find(name) {
      const markets = byName(all)
      const found = markets.get(name.toUpperCase())
      if (found) return found
      const guess = didYouMean(name.toUpperCase(), [...markets.keys()])
      throw new SluiceError('UNKNOWN_ORDER', `${venue.connector} has no market ${name}${guess}; GET ${basePaths[type]}/markets lists them.`)
    },
  }
}

/** Lists are long and often used; a connector returns the same one until it reads the markets again. */
const nameCache = new WeakMap<readonly BookMarket[], ReadonlyMap<string, BookMarket>>()

function byName(markets: readonly BookMarket[]): ReadonlyMap<string, BookMarket> {
  const map = nameCache.get(markets) ?? new Map(markets.map((market) => [marketName(market).toUpperCase(), market]))
  nameCache.set(markets, map)
  return map
}

/** The book from memory. @throws SluiceError NETWORK if it is stale */
export async function readBook(
  type: BookSet,
  market: BookMarket,
  { network, venue, services, signal }: ConnectorContext,
): Promise<BookView> {
  return services.books.book(bookVenueOf(type, network, venue), market, { signal })
}

/** The exchange for its books. @throws SluiceError UNSUPPORTED */
export function bookVenueOf(type: BookSet, { chain, network, impl }: NetworkEntry, venue: VenueEntry): BookVenue {
  const { books } = tradingOf(type, venue)
  return { chain, network, connector: venue.connector, type, books: venue.hosted?.books?.[type] ?? books, chainImpl: impl }
}
