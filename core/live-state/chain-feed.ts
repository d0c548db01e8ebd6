import type { Book, BookMarket, FollowedBooks, LastTrades } from '../contracts/index.ts'
import { reasonOf, SluiceError } from '../base/errors.ts'
import { bookName, createBookListeners, type BookFeed, type BookVenue, type BookView, type LatestBook } from './book-feed.ts'
import { createPriceLevels, crossedBy } from './price-levels.ts'
import { readLastTrades } from './stream-book.ts'
import type { Synchroniser } from './synchroniser.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'
import type { StateAtBlock, StateSource } from './tracked-states.ts'

interface ChainFeedOptions {
  venue: BookVenue
  books: FollowedBooks
  source: BookSource
  market: BookMarket
  telemetry: Telemetry
  synchroniser: Synchroniser
}

/** A book on a chain: loaded once, then moved by the blocks. */
export function createChainFeed({ venue, books, source, market, telemetry, synchroniser }: ChainFeedOptions): BookFeed {
  const name = bookName(venue, market)
  const key = source.keyOf(market)
  const listeners = createBookListeners()
  let unwatch: (() => void) | undefined
  /** The state that `shown` was read from. */
  let from: unknown
  let shown: (Book & LastTrades) | undefined
  let last: LastTrades = {}
  let view: BookView | undefined
  let told: { view: BookView | undefined; latest: LatestBook } | undefined
  // Never below the block's time, so that it increases over restarts and after the book was dropped, whatever this machine's clock says.
  let sequence = 0

  /** @throws SluiceError UNKNOWN_ERROR if the connector does not return a valid book */
  function viewOf({ state, head }: StateAtBlock): BookView {
    if (state !== from || !shown) {
      const read = show(state)
      from = state
      shown = read
      const { lastPrice, volume24h } = read
      last = { ...last, ...(lastPrice !== undefined && { lastPrice }), ...(volume24h !== undefined && { volume24h }) }
      sequence = Math.max(sequence + 1, head.timestamp * 1000)
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
      const why = reasonOf(cause)
      telemetry.trouble({ ...source.subject, what: market.id }, 'defect', `${name} cannot be shown: ${why}`, cause)
      const defect = new SluiceError('UNKNOWN_ERROR', `${name} cannot be shown: the connector failed. The server's log has the reason.`, {
        cause,
      })
      synchroniser.invalidate(source, key, defect)
      throw defect
    }
  }

  function onState(now: StateAtBlock | undefined): void {
    let next: BookView | undefined
    try {
      next = now && viewOf(now)
    } catch {
      // Reported by show().
    }
    if (!told || told.view !== next) told = { view: next, latest: () => next }
    listeners.tell(told.latest)
  }

  return {
    read: async (at) => viewOf(await synchroniser.read(source, key, at)),
    follow(listener) {
      const remove = listeners.add(listener, told?.latest ?? 'nothing')
      unwatch ??= synchroniser.watch(source, key, onState)
      return () => {
        remove()
        if (listeners.size > 0) return
        unwatch?.()
        unwatch = undefined
        told = undefined
      }
    },
    get listeners() {
      return listeners.size
    },
    stop: () => unwatch?.(),
  }
}

/** The books of one exchange on a chain. */
export interface BookSource extends StateSource {
  keyOf(market: BookMarket): string
}

export function createBookSource(books: FollowedBooks, subject: StateSubject): BookSource {
  const markets = new Map<string, BookMarket>()
  return {
    subject,
    followed: books,
    keyOf(market) {
      const key = books.keyOfMarket(market)
      markets.set(key, market)
      return key
    },
    // Only the levels are compared: the last trade cannot always be read again.
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

/** The book of a connector with canonical numbers. @throws Error if it is not a valid book */
export function readBook(given: Book & LastTrades): Book & LastTrades {
  const [buys, sells] = [createPriceLevels('buys'), createPriceLevels('sells')]
  if (!buys.replace(given.buys) || !sells.replace(given.sells))
    throw new Error('its levels are not sorted best first with each price once, or are not numbers above 0')
  const crossed = crossedBy(buys, sells)
  if (crossed !== undefined) throw new Error(crossed)
  const last = readLastTrades(given)
  if (!last) throw new Error('the last price or the volume is not a number')
  return { ...last, buys: buys.levels(), sells: sells.levels() }
}
