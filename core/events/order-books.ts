import type { BookSet } from '../api/endpoint.ts'
import type { OrderBookEvent, TopicRequest } from '../api/events.ts'
import type { At, BookMarket } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { bookVenueOf, marketName, marketsOf } from '../handlers/clob/markets.ts'
import type { Registry, VenueEntry } from '../plugins/index.ts'
import type { BookVenue, LatestBook } from '../live-state/book-feed.ts'
import type { Books } from '../live-state/books.ts'
import { createSharedFeed, missingField, onEachNetwork, type Topic } from './topic.ts'

/** A book that a request follows, and how many levels of each side. */
interface BookRequest {
  readonly venue: BookVenue
  readonly market: BookMarket
  readonly depth: number
}

/** The topic `orderBook`: the books of the markets that a request names, on each network that it allows. */
export function createBookTopic(registry: Registry, books: Pick<Books, 'follow'>): Topic<'orderBook'> {
  const feed = createSharedFeed<BookRequest, LatestBook>({
    event: 'orderBook',
    keyOf: ({ venue: { chain, network, connector, type }, market, depth }) => [chain, network, connector, type, market.id, depth].join('/'),
    follow: ({ venue, market }, changed) => books.follow(venue, market, changed),
    show: showBook,
  })
  return {
    find: async (request, at) => (await findBooks(registry, request, at)).map(feed.subscriber),
  }
}

const types: readonly BookSet[] = ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB']
const defaultDepth = 20

async function findBooks(registry: Registry, request: TopicRequest<'orderBook'>, at: At): Promise<readonly BookRequest[]> {
  const { connector, market: names, type, depth = defaultDepth } = request
  if (connector === undefined) throw missingField('connector', 'the exchange of the books of the topic orderBook')
  if (names === undefined) throw missingField('market', 'the books of the topic orderBook')
  const { name, trading_type } = registry.connector(connector)
  if (!trading_type.some((each) => (type === undefined ? types.some((book) => book === each) : each === type)))
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no ${type ?? 'order books'}; GET /plugins shows what it has.`)
  return onEachNetwork(registry, connector, request, async (network, venue) => {
    const markets = await findMarkets(venue, type, names, at)
    return markets.map((each) => ({ venue: bookVenueOf(each.type, network, venue), market: each.market, depth }))
  })
}

/** Finds markets by name; without a type, in the first kind of market that has the name. @throws SluiceError UNKNOWN_ORDER or UNSUPPORTED */
async function findMarkets(
  venue: VenueEntry,
  type: BookSet | undefined,
  names: readonly string[],
  at: At,
): Promise<readonly { type: BookSet; market: BookMarket }[]> {
  const offered = types.filter((each) => venue.impl[each] !== undefined)
  const searched = type === undefined && offered.length > 0 ? offered : [type ?? 'CLOB']
  const lists = await Promise.all(searched.map(async (each) => ({ type: each, markets: await marketsOf(each, venue, at) })))
  return [...new Set(names)].map((name) => {
    let failure: unknown
    for (const each of lists) {
      try {
        return { type: each.type, market: each.markets.find(name) }
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  })
}

function showBook({ venue: { chain, network, connector, type }, market, depth }: BookRequest, latest: LatestBook): OrderBookEvent {
  const about = { chain, network, connector, type, market: marketName(market) }
  const view = latest()
  if (!view) return { ...about, stale: true, buys: [], sells: [], timestamp: Date.now() }
  const { buys, sells, sequence, timestamp, blockNumber } = view
  return {
    ...about,
    buys: buys.slice(0, depth),
    sells: sells.slice(0, depth),
    sequence,
    timestamp,
    ...(blockNumber !== undefined && { blockNumber }),
  }
}
