import { SluiceError } from '../api/index.ts'
import type { At, BookMarket, BookStream, FollowedBooks } from '../contracts/index.ts'
import type { Following } from './synchroniser.ts'
import type { Telemetry } from './telemetry.ts'
import type { BookListener, BookVenue, BookView, BookFeed } from './book-feed.ts'
import { createBookSource, type BookSource, createChainFeed } from './chain-feed.ts'
import { createStreamFeed } from './stream-feed.ts'

/** The books of all order-book exchanges, in memory as long as somebody wants them. */
export interface Books {
  /** The book from memory, loaded when it is asked for first. @throws SluiceError NETWORK where it is stale or not there in time: never an old book */
  book(venue: BookVenue, market: BookMarket, at: At): Promise<BookView>
  /** Calls back after every change of the book, and when it is stale, with what gives the newest. Until the function given is called. */
  follow(venue: BookVenue, market: BookMarket, changed: BookListener): () => void
  /** How many are kept now. */
  readonly kept: number
  stop(): void
}

export interface BooksOptions {
  following: Following
  witness: Telemetry
  /** For books that exchanges tell of: so long without a word are they believed to be there. */
  staleSeconds: number
  /** How often one book of each exchange is compared with the exchange. */
  checkSeconds: number
  /** After so long unasked a book is let go. */
  idleSeconds: number
  maxBooks: number
}

interface Kept {
  feed: BookFeed
  /** The exchange on its network. */
  site: string
  usedAt: number
}

const pulseMs = 1_000

export function createBooks({ following, witness, staleSeconds, checkSeconds, idleSeconds, maxBooks }: BooksOptions): Books {
  const kept = new Map<string, Kept>()
  const sources = new WeakMap<FollowedBooks, BookSource>()
  let checkedAt = performance.now()
  let stopped = false
  const pulse = setInterval(beat, pulseMs)
  pulse.unref()

  function wanted(venue: BookVenue, market: BookMarket): Kept {
    const site = `${venue.chain}/${venue.network}/${venue.connector}`
    const key = `${site}/${venue.type}/${market.id}`
    const known = kept.get(key)
    if (known) {
      known.usedAt = performance.now()
      return known
    }
    if (stopped) throw new SluiceError('OVERLOADED', 'The server is stopping: try again when it is back.', { retryAfterSeconds: 5 })
    makeRoom()
    const { books } = venue
    const feed = isStream(books)
      ? createStreamFeed({ venue, stream: books, market, witness, staleMs: staleSeconds * 1000 })
      : createChainFeed({ venue, books, source: sourceOf(venue, books), market, witness, synchroniser: following.of(venue) })
    const entry = { feed, site, usedAt: performance.now() }
    kept.set(key, entry)
    return entry
  }

  function sourceOf({ chain, network, connector }: BookVenue, books: FollowedBooks): BookSource {
    const source = sources.get(books) ?? createBookSource(books, { chain, network, connector })
    sources.set(books, source)
    return source
  }

  function makeRoom(): void {
    if (kept.size < maxBooks) return
    const [oldest] = [...kept].filter(([, { feed }]) => feed.followers === 0).toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    if (!oldest)
      throw new SluiceError('OVERLOADED', `${maxBooks} order books are followed, which is the most: follow fewer.`, {
        retryAfterSeconds: 5,
      })
    letGo(...oldest)
  }

  function letGo(key: string, { feed }: Kept): void {
    kept.delete(key)
    feed.stop()
  }

  function beat(): void {
    const now = performance.now()
    for (const [key, entry] of kept) {
      if (entry.feed.followers === 0 && now - entry.usedAt > idleSeconds * 1000) letGo(key, entry)
      else entry.feed.onInterval()
    }
    if (now - checkedAt < checkSeconds * 1000) return
    checkedAt = now
    for (const site of new Set([...kept.values()].map((each) => each.site))) checkOne(site)
  }

  /** Of each exchange one after the other, so that what a check costs does not rise with the books. */
  function checkOne(site: string): void {
    for (const [key, entry] of kept) {
      if (entry.site !== site || !entry.feed.check) continue
      void entry.feed.check()
      kept.delete(key)
      kept.set(key, entry)
      return
    }
  }

  return {
    book: async (venue, market, at) => wanted(venue, market).feed.read(at),
    follow(venue, market, changed) {
      const entry = wanted(venue, market)
      const unfollow = entry.feed.follow(changed)
      return () => {
        unfollow()
        entry.usedAt = performance.now()
      }
    },
    get kept() {
      return kept.size
    },
    stop() {
      stopped = true
      clearInterval(pulse)
      for (const [key, entry] of kept) letGo(key, entry)
    },
  }
}

const isStream = (books: BookStream | FollowedBooks): books is BookStream => 'watch' in books
