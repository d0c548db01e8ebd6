import type { Log } from '../contracts/index.ts'
import { createBooks, type Books } from './books.ts'
import { createQuotes, openQuotedPairs, type Quotes } from './quotes.ts'
import { createSynchronisers, type Synchronisers } from './synchroniser.ts'
import { createTelemetry, type LiveStateCounters } from './telemetry.ts'
import { createWalletChecks, type WalletChecks } from './wallets.ts'

/** The state of chains and exchanges that the server keeps in memory and up to date. */
export interface LiveState {
  readonly books: Books
  readonly quotes: Quotes
  readonly walletChecks: WalletChecks
  readonly following: Synchronisers
  stop(): Promise<void>
}

/** The settings `market.*`. */
interface LiveStateSettings {
  staleBlocks: number
  staleBlockSeconds: number
  staleSeconds: number
  checkSeconds: number
  cachedQuotes: number
}

/** What nobody used for so long is dropped. */
const idleSeconds = 300
const maxBooks = 1_000
/** States of one network. */
const maxKeys = 10_000

/** @param dataDir keeps from one run to the next which pairs were quoted */
export function createLiveState(settings: LiveStateSettings, dataDir: string, log: Log, counters: LiveStateCounters): LiveState {
  const telemetry = createTelemetry(log, counters)
  const following = createSynchronisers({ ...settings, idleSeconds, maxKeys, telemetry })
  const books = createBooks({ ...settings, idleSeconds, maxBooks, following, telemetry })
  const quotes = createQuotes({ following, maxQuotes: settings.cachedQuotes, pairs: openQuotedPairs(dataDir, log) })
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
