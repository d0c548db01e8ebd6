import type { At, Book, BookMarket, BookStream, FollowedBooks, LastTrades } from '../contracts/index.ts'
import type { FollowedNetwork } from './synchroniser.ts'

/** The kinds of order books, as `trading_type` names them. */
export type BookType = 'CLOB' | 'MARGIN_CLOB' | 'PERP_CLOB'

/** A connector on a network, and how its books are read. */
export interface BookVenue {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly type: BookType
  readonly books: BookStream | FollowedBooks | RemoteBooks
  readonly chainImpl: FollowedNetwork['chainImpl']
}

/** Books that another process keeps. */
export interface RemoteBooks {
  /** @throws SluiceError where there is none that may be shown */
  read(market: BookMarket, at: At): Promise<BookView>
  /** As `BookFeed.follow`. */
  follow(market: BookMarket, listener: BookListener): () => void
}

/** A book at one moment. Immutable. */
export interface BookView extends Book, LastTrades {
  /** Increases with every change. */
  readonly sequence: number
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  /** For books on a chain: the newest block that the book includes. */
  readonly blockNumber?: number
}

/** The book at the time of the call; `undefined` if there is none that may be shown. Every change of the book brings another function. */
export type LatestBook = () => BookView | undefined

/** Books change more often than they are looked at: a listener gets a function that reads the book when it is needed. */
export type BookListener = (latest: LatestBook) => void

export const noBook: LatestBook = () => undefined

/** Keeps one book up to date, for all who want it. */
export interface BookFeed {
  /** @throws SluiceError if there is no book that may be shown, and none within moments */
  read(at: At): Promise<BookView>
  /** Calls back after every change until the returned function is called, and at once if there is a book. */
  follow(listener: BookListener): () => void
  /** How many listeners follow it. */
  readonly listeners: number
  /** Called about once a second. */
  onInterval?(): void
  /** Compares memory with the exchange. Absent if the synchroniser compares all states of the network. */
  check?(): Promise<void>
  stop(): void
}

/** A book that another process keeps up to date. */
export function createRemoteFeed(books: RemoteBooks, market: BookMarket): BookFeed {
  let listeners = 0
  return {
    read: (at) => books.read(market, at),
    follow(listener) {
      listeners += 1
      const unfollow = books.follow(market, listener)
      return () => {
        listeners -= 1
        unfollow()
      }
    },
    get listeners() {
      return listeners
    },
    stop() {},
  }
}

/** How errors and logs name a book. */
export const bookName = ({ connector, chain, network }: Pick<BookVenue, 'connector' | 'chain' | 'network'>, { base, quote }: BookMarket) =>
  `The order book of ${base}-${quote} on ${connector} (${chain}/${network})`

/** The listeners of one book. Each is told only what it does not know yet. */
interface BookListeners {
  /** Tells the listener `latest` at once, unless it is `nothing`. Until the returned function is called. */
  add(listener: BookListener, latest: LatestBook | 'nothing'): () => void
  tell(latest: LatestBook): void
  readonly size: number
}

export function createBookListeners(): BookListeners {
  const entries = new Set<{ readonly listener: BookListener; lastTold: LatestBook | 'nothing' }>()
  return {
    add(listener, latest) {
      const entry = { listener, lastTold: latest }
      entries.add(entry)
      if (latest !== 'nothing') listener(latest)
      return () => void entries.delete(entry)
    },
    tell(latest) {
      for (const entry of entries) {
        if (entry.lastTold === latest) continue
        entry.lastTold = latest
        entry.listener(latest)
      }
    },
    get size() {
      return entries.size
    },
  }
}
