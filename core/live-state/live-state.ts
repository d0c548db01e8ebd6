// State in memory that follows chains and exchanges.
import type { Log } from '../contracts/index.ts'
import { createBooks, type Books } from './books.ts'
import { createFollowing, type Following } from './synchroniser.ts'
import { createQuotes, type Quotes, openQuotedPairs } from './quotes.ts'
import { createWalletChecks, type WalletChecks } from './wallets.ts'
import { createTelemetry, type LiveStateCounters } from './telemetry.ts'

export type { Books } from './books.ts'
export type { BookListener as BookChanged, BookType, BookVenue, BookView, LatestBook as NewestBook } from './book-feed.ts'
export type { Following } from './synchroniser.ts'
export { updateOfFailure as newsOfFailure } from './pair-quoter.ts'
export type { QuoteListener as QuoteChanged, QuoteUpdate as QuoteNews } from './pair-quoter.ts'
export type { Quotes, QuoteVenue } from './quotes.ts'
export type { WalletChecks as Recalls } from './wallets.ts'
export type { LiveStateCounters as MarketCounters } from './telemetry.ts'

interface LiveStateSettings {
  staleBlocks: number
  staleBlockSeconds: number
  staleSeconds: number
  checkSeconds: number
}

/** What nobody asked for so long is let go. */
const idleSeconds = 300
/** The most books, and the most states of one network. */
const maxBooks = 1_000
const maxKeys = 10_000

/** All that the server keeps in memory of exchanges. */
export interface LiveState {
  readonly books: Books
  readonly quotes: Quotes
  readonly walletChecks: WalletChecks
  readonly following: Following
  stop(): Promise<void>
}

/** @param dataDir where what was asked about is remembered from one run to the next */
export function createLiveState(settings: LiveStateSettings, dataDir: string, log: Log, counters: LiveStateCounters): LiveState {
  const witness = createTelemetry(log, counters)
  const following = createFollowing({ ...settings, idleSeconds, maxKeys, witness })
  const books = createBooks({ ...settings, idleSeconds, maxBooks, following, witness })
  const quotes = createQuotes({ following, pairs: openQuotedPairs(dataDir, log) })
  return {
    books,
    quotes,
    walletChecks: createWalletChecks(following, idleSeconds),
    following,
    async stop() {
      await quotes.stop()
      books.stop()
      following.stop()
    },
  }
}
