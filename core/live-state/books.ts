import type { At, BookMarket, FollowedBooks } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { createRemoteFeed, type BookFeed, type BookListener, type BookVenue, type BookView } from './book-feed.ts'
import { createBookSource, createChainFeed, type BookSource } from './chain-feed.ts'
import { createStreamFeed } from './stream-feed.ts'
import type { Synchronisers } from './synchroniser.ts'
import type { Telemetry } from './telemetry.ts'

/** The order books of all exchanges, kept in memory while they are used. */
export interface Books {
  /** Reads from memory; the first read loads the book. @throws SluiceError NETWORK if the book is stale, or not loaded in time */
  book(venue: BookVenue, market: BookMarket, at: At): Promise<BookView>
  /** Calls back after every change of the book, and when it becomes stale, until the returned function is called. */
  follow(venue: BookVenue, market: BookMarket, listener: BookListener): () => void
  /** How many books are kept. */
  readonly size: number
  stop(): void
}

export interface BooksOptions {
  following: Synchronisers
  telemetry: Telemetry
  /** An exchange that streams a book counts as away after so long without a message. */
  staleSeconds: number
  /** How often one book of each exchange is compared with the exchange. */
  checkSeconds: number
  /** Books that nobody used for so long are dropped. */
  idleSeconds: number
  maxBooks: number
}

interface CacheEntry {
  feed: BookFeed
  /** The exchange on its network. */
  venue: string
  usedAt: number
}

const intervalMs = 1_000

export function createBooks({ following, telemetry, staleSeconds, checkSeconds, idleSeconds, maxBooks }: BooksOptions): Books {
  const entries = new Map<string, CacheEntry>()
  const sources = new WeakMap<FollowedBooks, BookSource>()
  /** Another version of a plugin has other books of the same name. */
  const ids = new WeakMap<object, number>()
  let lastId = 0
  let checkedAt = performance.now()
  let isStopped = false
  const interval = setInterval(onInterval, intervalMs)
  interval.unref()

  function entryOf(venue: BookVenue, market: BookMarket): CacheEntry {
    const name = `${venue.chain}/${venue.network}/${venue.connector}`
    const id = ids.get(venue.books) ?? (lastId += 1)
    ids.set(venue.books, id)
    const key = `${name}/${venue.type}/${id}/${market.id}`
    const known = entries.get(key)
    if (known) {
      known.usedAt = performance.now()
      return known
    }
    if (isStopped) throw new SluiceError('OVERLOADED', 'The server is stopping: try again when it is back.', { retryAfterSeconds: 5 })
    makeRoom()
    const entry = { feed: feedOf(venue, market), venue: name, usedAt: performance.now() }
    entries.set(key, entry)
    return entry
  }

  function feedOf(venue: BookVenue, market: BookMarket): BookFeed {
    const { books } = venue
    if ('read' in books) return createRemoteFeed(books, market)
    if ('watch' in books) return createStreamFeed({ venue, stream: books, market, telemetry, staleMs: staleSeconds * 1000 })
    return createChainFeed({ venue, books, source: sourceOf(venue, books), market, telemetry, synchroniser: following.of(venue) })
  }

  function sourceOf({ chain, network, connector }: BookVenue, books: FollowedBooks): BookSource {
    const source = sources.get(books) ?? createBookSource(books, { chain, network, connector })
    sources.set(books, source)
    return source
  }

  function makeRoom(): void {
    if (entries.size < maxBooks) return
    const [oldest] = [...entries].filter(([, { feed }]) => feed.listeners === 0).toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    if (!oldest)
      throw new SluiceError('OVERLOADED', `${maxBooks} order books are followed, the maximum. Follow fewer.`, { retryAfterSeconds: 5 })
    drop(...oldest)
  }

  function drop(key: string, { feed }: CacheEntry): void {
    entries.delete(key)
    feed.stop()
  }

  function onInterval(): void {
    const now = performance.now()
    for (const [key, entry] of entries) {
      if (entry.feed.listeners === 0 && now - entry.usedAt > idleSeconds * 1000) drop(key, entry)
      else entry.feed.onInterval?.()
    }
    if (now - checkedAt < checkSeconds * 1000) return
    checkedAt = now
    for (const venue of new Set([...entries.values()].map((each) => each.venue))) checkNext(venue)
  }

  /** Checks the books of an exchange one after the other, so that more books do not mean more checks. */
  function checkNext(venue: string): void {
    for (const [key, entry] of entries) {
      if (entry.venue !== venue || !entry.feed.check) continue
      void entry.feed.check()
      entries.delete(key)
      entries.set(key, entry)
      return
    }
  }

  return {
    book: async (venue, market, at) => entryOf(venue, market).feed.read(at),
    follow(venue, market, listener) {
      const entry = entryOf(venue, market)
      const unfollow = entry.feed.follow(listener)
      return () => {
        unfollow()
        entry.usedAt = performance.now()
      }
    },
    get size() {
      return entries.size
    },
    stop() {
      isStopped = true
      clearInterval(interval)
      for (const [key, entry] of entries) drop(key, entry)
    },
  }
}
