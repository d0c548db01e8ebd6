import type { Quote } from '../../contracts/index.ts'

const keptMs = 10_000
const mostKept = 1_000

/** The last quote for each question that was asked of an exchange a moment ago: a bot asks for the price, and then it trades. */
export interface RecentQuotes {
  put(question: string, quote: Quote): void
  /** Never to be traded on as it is: prices move. */
  get(question: string): Quote | undefined
  /** How many the exchange has given since the start: from memory, and those that the chain was asked for. */
  readonly given: { memory: number; rpc: number }
}

export function createRecentQuotes(nowMs: () => number = () => performance.now()): RecentQuotes {
  const kept = new Map<string, { quote: Quote; at: number }>()
  return {
    given: { memory: 0, rpc: 0 },
    put(question, quote) {
      // Put again, it is the youngest: the oldest is always the first.
      kept.delete(question)
      kept.set(question, { quote, at: nowMs() })
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    },
    get(question) {
      const found = kept.get(question)
      return found && nowMs() - found.at < keptMs ? found.quote : undefined
    },
  }
}
