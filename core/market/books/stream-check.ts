import type { Book, BookUpdate } from '../../contracts/index.ts'
import type { CheckOutcome } from '../../live-state/telemetry.ts'
import { createLadder } from '../../live-state/price-levels.ts'

/** How many books are kept while a check waits for the exchange's answer. */
const mostKept = 256

/** Compares the books in memory with one that the exchange gives: of the same sequence, whichever of both is there first. */
export interface StreamCheck {
  /** A book that there was in memory since the check began. */
  saw(sequence: number, book: Book): void
  /** What the exchange gave. */
  answered(snapshot: BookUpdate & { is: 'snapshot' }): void
  /** Undefined until it can be said. */
  outcome(): CheckOutcome | undefined
}

export function createStreamCheck(): StreamCheck {
  const kept = new Map<number, Book>()
  let newest = -1
  let theirs: { sequence: number; book: Book } | undefined
  return {
    saw(sequence, { buys, sells }) {
      newest = sequence
      if (theirs && sequence < theirs.sequence) return
      kept.set(sequence, { buys, sells })
      for (const each of kept.keys()) if (kept.size > mostKept) kept.delete(each)
    },
    answered({ sequence, book }) {
      theirs = { sequence, book: plain(book) }
    },
    outcome() {
      if (!theirs || newest < theirs.sequence) return undefined
      const ours = kept.get(theirs.sequence)
      if (!ours) return 'unclear'
      return JSON.stringify(plain(ours)) === JSON.stringify(theirs.book) ? 'equal' : 'different'
    },
  }
}

/** In the one spelling of its numbers, and with nothing else in it. */
function plain({ buys, sells }: Book): Book {
  const levels = (side: 'buys' | 'sells', given: Book['buys']) => {
    const ladder = createLadder(side)
    ladder.replace(given)
    return ladder.levels()
  }
  return { buys: levels('buys', buys), sells: levels('sells', sells) }
}
