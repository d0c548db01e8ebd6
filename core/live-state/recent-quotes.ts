import { dropOldest } from '../base/oldest.ts'
import type { Quote } from '../contracts/index.ts'

/** The last quote of each swap that was quoted a moment ago: a bot asks for the price, and then it trades. */
export interface RecentQuotes {
  put(key: string, quote: Quote): void
  /** Never to be traded on unchecked: prices move. */
  get(key: string): Quote | undefined
  /** Quotes since the start, by source: from memory, and asked of the chain. */
  counts: { memory: number; rpc: number }
}

const quoteTtlMs = 10_000
const maxRecentQuotes = 1_000

export function createRecentQuotes(nowMs: () => number = () => performance.now()): RecentQuotes {
  const quotes = new Map<string, { quote: Quote; at: number }>()
  return {
    counts: { memory: 0, rpc: 0 },
    put(key, quote) {
      // Deleted first, so that it becomes the youngest: a map iterates oldest first.
      quotes.delete(key)
      quotes.set(key, { quote, at: nowMs() })
      dropOldest(quotes, maxRecentQuotes)
    },
    get(key) {
      const entry = quotes.get(key)
      return entry && nowMs() - entry.at < quoteTtlMs ? entry.quote : undefined
    },
  }
}
