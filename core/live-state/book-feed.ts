import type { At, Book, BookMarket, BookStream, Chain, FollowedBooks, LastTrades } from '../contracts/index.ts'

export type BookType = 'CLOB' | 'MARGIN_CLOB' | 'PERP_CLOB'

/** What books are read by: a venue as it runs, and the chain that it is on. */
export interface BookVenue {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly type: BookType
  readonly books: BookStream | FollowedBooks
  readonly chainImpl: Chain
}

/** A book as it was at one moment. Never changed. */
export interface BookView extends Book, LastTrades {
  /** Increases with every change. */
  readonly sequence: number
  /** Milliseconds since the Unix epoch: when it was so. */
  readonly timestamp: number
  /** Of books on a chain: the newest block that it is after. */
  readonly blockNumber?: number
}

/** What there is when it is called; `undefined` where there is none that may be shown. Another function is another book. */
export type LatestBook = () => BookView | undefined

/** Books change more often than anybody looks at them: who is told is given what it can look by. */
export type BookListener = (newest: LatestBook) => void

export const noBook: LatestBook = () => undefined

/** One book that is kept, for all who want it. */
export interface BookFeed {
  /** @throws SluiceError where there is none that may be shown, and there is none within moments */
  read(at: At): Promise<BookView>
  /** Until the function given is called. What there is already is told at once. */
  follow(changed: BookListener): () => void
  readonly followers: number
  /** Called about once a second. */
  onInterval(): void
  /** Compares what is in memory with the exchange. Absent where that is done with all that is followed. */
  check?(): Promise<void>
  stop(): void
}

/** How errors and logs name a book. */
export const bookName = ({ connector, chain, network }: Pick<BookVenue, 'connector' | 'chain' | 'network'>, { base, quote }: BookMarket) =>
  `The order book of ${base}-${quote} on ${connector} (${chain}/${network})`

/** Who is told of a book, and each only what is news to it. */
interface BookListeners {
  /** Told at once what there is now, unless that is `nothing` that could be told yet. */
  add(changed: BookListener, now: LatestBook | 'nothing'): () => void
  tell(newest: LatestBook): void
  readonly size: number
}

export function createBookListeners(): BookListeners {
  const told = new Map<object, { changed: BookListener; last: LatestBook | 'nothing' }>()
  return {
    add(changed, now) {
      const key = {}
      told.set(key, { changed, last: now })
      if (now !== 'nothing') changed(now)
      return () => void told.delete(key)
    },
    tell(newest) {
      for (const each of told.values()) {
        if (each.last === newest) continue
        each.last = newest
        each.changed(newest)
      }
    },
    get size() {
      return told.size
    },
  }
}
