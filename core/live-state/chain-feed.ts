import { compareCanonical } from '../decimal.ts'
import { SluiceError } from '../api/index.ts'
import type { Book, BookMarket, FollowedBooks, LastTrades } from '../contracts/index.ts'
import { bookName, type BookVenue, type BookView, type BookFeed, type LatestBook, createBookListeners } from './book-feed.ts'
import { createPriceLevels } from './price-levels.ts'
import { lastTradesOf } from './stream-book.ts'
import type { Synchroniser } from './synchroniser.ts'
import type { Telemetry, StateSubject } from './telemetry.ts'
import type { StateAtBlock, StateSource } from './tracked-states.ts'

interface ChainFeedOptions {
  venue: BookVenue
  books: FollowedBooks
  source: BookSource
  market: BookMarket
  witness: Telemetry
  synchroniser: Synchroniser
}

/** A book that is read from the chain and moved by its blocks. */
export function createChainFeed({ venue, books, source, market, witness, synchroniser }: ChainFeedOptions): BookFeed {
  const name = bookName(venue, market)
  const key = source.keyOf(market)
  const followers = createBookListeners()
  let unwatch: (() => void) | undefined
  let from: unknown
  let shown: (Book & LastTrades) | undefined
  let last: LastTrades = {}
  let view: BookView | undefined
  let told: { view: BookView | undefined; newest: LatestBook } | undefined
  // Of the clock, so that it increases over restarts and over times when the book was let go.
  let sequence = Date.now()

  /** @throws SluiceError UNKNOWN_ERROR where what the connector shows is no book */
  function viewOf({ state, head }: StateAtBlock): BookView {
    if (state !== from || !shown) {
      const read = show(state)
      from = state
      shown = read
      last = { ...last, ...lastOf(read) }
      sequence += 1
    }
    const blockNumber = Number(head.number)
    if (view?.sequence !== sequence || view.blockNumber !== blockNumber)
      view = { ...last, ...shown, sequence, timestamp: head.timestamp * 1000, blockNumber }
    return view
  }

  function show(state: unknown): Book & LastTrades {
    try {
      return readBook(books.show(state, market))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'unknown'
      witness.trouble({ ...source.place, what: market.id }, 'defect', `${name} cannot be shown: ${why}`, cause)
      const defect = new SluiceError(
        'UNKNOWN_ERROR',
        `${name} cannot be shown: the connector has failed. The server's log has the reason.`,
        {
          cause,
        },
      )
      synchroniser.invalidate(source, key, defect)
      throw defect
    }
  }

  function changed(seen: StateAtBlock | undefined): void {
    let now: BookView | undefined
    try {
      now = seen && viewOf(seen)
    } catch {
      // Told where it was found.
    }
    if (!told || told.view !== now) told = { view: now, newest: () => now }
    followers.tell(told.newest)
  }

  return {
    read: async (at) => viewOf(await synchroniser.read(source, key, at)),
    follow(follower) {
      const forget = followers.add(follower, told?.newest ?? 'nothing')
      unwatch ??= synchroniser.watch(source, key, changed)
      return () => {
        forget()
        if (followers.size > 0) return
        unwatch?.()
        unwatch = undefined
        told = undefined
      }
    },
    get followers() {
      return followers.size
    },
    onInterval() {},
    stop: () => unwatch?.(),
  }
}

const lastOf = ({ lastPrice, volume24h }: LastTrades): LastTrades => ({
  ...(lastPrice !== undefined && { lastPrice }),
  ...(volume24h !== undefined && { volume24h }),
})

/** The books of one exchange on a chain, as they are followed. */
export interface BookSource extends StateSource {
  keyOf(market: BookMarket): string
}

export function createBookSource(books: FollowedBooks, place: StateSubject): BookSource {
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

/** A book as a connector gave it, in the one spelling of its numbers. Throws where it is none. */
function readBook(given: Book & LastTrades): Book & LastTrades {
  const [buys, sells] = [createPriceLevels('buys'), createPriceLevels('sells')]
  if (!buys.replace(given.buys) || !sells.replace(given.sells))
    throw new Error('its levels are not sorted best first with each price once, or are no numbers above 0')
  if (buys.best !== undefined && sells.best !== undefined && compareCanonical(buys.best, sells.best) >= 0)
    throw new Error(`the best bid ${buys.best} is not below the best ask ${sells.best}`)
  const last = lastTradesOf(given)
  if (!last) throw new Error('the last price or the volume is no number')
  return { ...last, buys: buys.levels(), sells: sells.levels() }
}
