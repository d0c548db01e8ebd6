import { SluiceError } from '../api/index.ts'
import type { Book, BookMarket, FollowedBooks, LastTrades } from '../contracts/index.ts'
import type { Synchroniser } from './synchroniser.ts'
import type { Seen } from './tracked-states.ts'
import type { BookSource } from '../market/books/book-source.ts'
import type { Witness } from './telemetry.ts'
import { bookName, type BookVenue, type BookView, type Feed, type NewestBook } from './book-feed.ts'
import { createFollowers } from '../market/books/followers.ts'
import { readBook } from '../market/books/read-book.ts'

export interface FollowedFeedOptions {
  venue: BookVenue
  books: FollowedBooks
  source: BookSource
  market: BookMarket
  witness: Witness
  synchroniser: Synchroniser
}

/** A book that is read from the chain and moved by its blocks. */
export function createFollowedFeed({ venue, books, source, market, witness, synchroniser }: FollowedFeedOptions): Feed {
  const name = bookName(venue, market)
  const key = source.keyOf(market)
  const followers = createFollowers()
  let unwatch: (() => void) | undefined
  let from: unknown
  let shown: (Book & LastTrades) | undefined
  let last: LastTrades = {}
  let view: BookView | undefined
  let told: { view: BookView | undefined; newest: NewestBook } | undefined
  // Of the clock, so that it increases over restarts and over times when the book was let go.
  let sequence = Date.now()

  /** @throws SluiceError UNKNOWN_ERROR where what the connector shows is no book */
  function viewOf({ state, head }: Seen): BookView {
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
      synchroniser.doubt(source, key, defect)
      throw defect
    }
  }

  function changed(seen: Seen | undefined): void {
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
    pulse() {},
    stop: () => unwatch?.(),
  }
}

const lastOf = ({ lastPrice, volume24h }: LastTrades): LastTrades => ({
  ...(lastPrice !== undefined && { lastPrice }),
  ...(volume24h !== undefined && { volume24h }),
})
