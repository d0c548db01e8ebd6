import { badFields, SluiceError, type BookSet, type EventsRequest, type OrderBookNews } from '../api/index.ts'
import type { At, BookMarket } from '../contracts/index.ts'
import { bookOf, marketsOf, marketName } from '../handlers/clob/markets.ts'
import type { Registry, NetworkEntry, VenueEntry } from '../handlers/registry.ts'
import type { BookVenue, LatestBook } from '../live-state/book-feed.ts'
import type { Books } from '../live-state/books.ts'
import { onEachNetwork, createSharedFeed, type SharedFeed } from './topic.ts'

const types: readonly BookSet[] = ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB']
const usualDepth = 20

/** The books that a request names, on all networks that it does not rule out. @throws SluiceError as the endpoints of order books do */
export async function findBooks(directory: Registry, request: EventsRequest, at: At): Promise<readonly BookRequest[]> {
  const { connector, market: names, type, depth = usualDepth } = request
  const problem = 'is missing: it says which books the topic orderBook is to tell of'
  if (connector === undefined) throw badFields([{ field: 'connector', problem }])
  if (names === undefined) throw badFields([{ field: 'market', problem }])
  requireBooks(directory, connector, type)
  return onEachNetwork(directory, connector, request, async (network, venue) => {
    const markets = await findMarkets(venue, type, names, at)
    return markets.map((each) => ({ venue: bookVenue(network, venue, each.type), market: each.market, depth }))
  })
}

function requireBooks(directory: Registry, connector: string, type: BookSet | undefined): void {
  const { name, trading_type } = directory.connector(connector)
  if (!trading_type.some((each) => (type === undefined ? types.some((book) => book === each) : each === type)))
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no ${type ?? 'order books'}; GET /plugins shows what it has.`)
}

/** Each by its name: where no kind of market is said, of the first that has it. @throws SluiceError UNKNOWN_ORDER or UNSUPPORTED */
async function findMarkets(
  venue: VenueEntry,
  type: BookSet | undefined,
  names: readonly string[],
  at: At,
): Promise<readonly { type: BookSet; market: BookMarket }[]> {
  const has = types.filter((each) => venue.impl[each] !== undefined)
  const wanted = type === undefined && has.length > 0 ? has : [type ?? 'CLOB']
  const lists = await Promise.all(wanted.map(async (each) => ({ type: each, markets: await marketsOf(each, venue, at) })))
  return [...new Set(names)].map((name) => {
    let refused: unknown
    for (const each of lists) {
      try {
        return { type: each.type, market: each.markets.find(name) }
      } catch (error) {
        refused ??= error
      }
    }
    throw refused
  })
}

const bookVenue = ({ chain, network, impl }: NetworkEntry, venue: VenueEntry, type: BookSet): BookRequest['venue'] => ({
  chain,
  network,
  connector: venue.connector,
  type,
  books: bookOf(type, venue).books,
  chainImpl: impl,
})

/** A book that somebody wants to hear of, and how much of it. */
interface BookRequest {
  readonly venue: BookVenue
  readonly market: BookMarket
  readonly depth: number
}

export const createBookTopic = (books: Pick<Books, 'follow'>): SharedFeed<BookRequest> =>
  createSharedFeed<BookRequest, LatestBook>({
    event: 'orderBook',
    keyOf: ({ venue: { chain, network, connector, type }, market, depth }) => [chain, network, connector, type, market.id, depth].join('/'),
    follow: ({ venue, market }, changed) => books.follow(venue, market, changed),
    show,
  })

function show({ venue: { chain, network, connector, type }, market, depth }: BookRequest, newest: LatestBook): OrderBookNews {
  const of = { chain, network, connector, type, market: marketName(market) }
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
