import { canonicalDecimal, compareCanonical } from '../decimal.ts'
import type { Book, BookUpdate, LastTrades } from '../contracts/index.ts'
import { createPriceLevels } from './price-levels.ts'
import type { CheckOutcome } from './telemetry.ts'

type Snapshot = BookUpdate & { is: 'snapshot' }
type Change = BookUpdate & { is: 'change' }

/**
 * - `waiting`: for the snapshot that it begins with
 * - `good`: as the exchange had it at its sequence
 * - `gap`: a change is missing; what came after it is kept
 * - `lost`: the exchange is away
 * - `faulty`: what came is no book, `fault` says why
 */
export type BookStatus = 'waiting' | 'good' | 'gap' | 'lost' | 'faulty'

/**
 * What an update was: another book, or none any more (`changed`); a word that the one in memory is still so (`confirmed`); another last
 * trade, which says nothing of the book (`traded`); nothing that could be used (`passed`).
 */
type UpdateEffect = 'changed' | 'confirmed' | 'traded' | 'passed'

/** The book that an exchange's stream tells of. No time passes here, and nothing is asked. */
interface StreamBook {
  take(update: BookUpdate): UpdateEffect
  readonly status: BookStatus
  readonly fault: string
  readonly sequence: number
  /** Milliseconds: when the exchange last said that it is so. */
  readonly timestamp: number
  /** Meant only while it is good. The same object until it changes. */
  book(): Book & LastTrades
}

/** What is kept of changes that came too early; the oldest go, and a snapshot is needed then anyway. */
const mostEarly = 1_000

export function createStreamBook(): StreamBook {
  const buys = createPriceLevels('buys')
  const sells = createPriceLevels('sells')
  let standing: BookStatus = 'waiting'
  let fault = ''
  let sequence = -1
  let timestamp = 0
  let last: LastTrades = {}
  let early: Change[] = []
  let shown: (Book & LastTrades) | undefined

  const changed = (): UpdateEffect => {
    shown = undefined
    return 'changed'
  }

  function fail(why: string): UpdateEffect {
    standing = 'faulty'
    fault = why
    early = []
    return 'changed'
  }

  const isCrossed = () => buys.best !== undefined && sells.best !== undefined && compareCanonical(buys.best, sells.best) >= 0

  function takeSnapshot(update: Snapshot): UpdateEffect {
    if (!isOrderly(update)) return fail('a snapshot has no sequence or timestamp')
    const isOld = standing === 'good' ? update.sequence <= sequence : standing === 'gap' && update.sequence < sequence
    if (isOld) {
      if (standing !== 'good' || update.sequence !== sequence) return 'passed'
      timestamp = Math.max(timestamp, update.timestamp)
      return 'confirmed'
    }
    const fits = [buys.replace(update.book?.buys), sells.replace(update.book?.sells)].every(Boolean)
    if (!fits) return fail('a snapshot has levels that are not sorted best first with each price once, or are no numbers above 0')
    if (isCrossed()) return fail(`the best bid ${buys.best} is not below the best ask ${sells.best}`)
    standing = 'good'
    sequence = update.sequence
    timestamp = update.timestamp
    takeEarly()
    return changed()
  }

  function takeChange(update: Change): UpdateEffect {
    if (!isOrderly(update) || !Number.isSafeInteger(update.follows) || update.follows >= update.sequence || !Array.isArray(update.levels))
      return fail('a change has no sequence, does not say which it follows, or has no levels')
    const known = standing === 'good' || standing === 'gap'
    if (known && update.sequence <= sequence) return 'passed'
    if (known && update.follows <= sequence) {
      standing = 'good'
      if (apply(update)) takeEarly()
      return changed()
    }
    // It is of what was lost: the stream begins again with a snapshot.
    if (standing === 'lost') return 'passed'
    early.push(update)
    if (early.length > mostEarly) early.shift()
    if (standing !== 'good') return 'passed'
    standing = 'gap'
    return changed()
  }

  /** A change tells what there is at its prices at its sequence: it can follow any book between the one that it names and itself. */
  function apply({ levels, ...update }: Change): boolean {
    for (const level of levels) {
      const ladder = level?.side === 'buys' ? buys : level?.side === 'sells' ? sells : undefined
      if (!ladder?.set(level.price, level.quantity)) {
        fail('a change has a level whose side, price or quantity is none')
        return false
      }
    }
    sequence = update.sequence
    timestamp = update.timestamp
    if (!isCrossed()) return true
    fail(`the best bid ${buys.best} is not below the best ask ${sells.best}`)
    return false
  }

  /** What came too early and has its place now; where more is missing it is a gap still. */
  function takeEarly(): void {
    const waiting = early.toSorted((a, b) => a.sequence - b.sequence)
    early = []
    for (const update of waiting) {
      if (standing !== 'good') return
      if (update.sequence <= sequence) continue
      if (update.follows > sequence) early.push(update)
      else if (!apply(update)) return
    }
    if (early.length > 0) standing = 'gap'
  }

  return {
    take(update) {
      switch (update?.is) {
        case 'snapshot':
          return takeSnapshot(update)
        case 'change':
          return takeChange(update)
        case 'traded': {
          const read = lastTradesOf(update)
          if (!read) return fail('the last price or the volume is no number')
          last = { ...last, ...read }
          shown = undefined
          return 'traded'
        }
        case 'alive':
          if (!Number.isFinite(update.timestamp)) return fail('a sign of life has no timestamp')
          timestamp = Math.max(timestamp, update.timestamp)
          return 'confirmed'
        case 'lost':
          standing = 'lost'
          early = []
          return changed()
        default:
          return fail('an update is of no kind that there is')
      }
    },
    get status() {
      return standing
    },
    get fault() {
      return fault
    },
    get sequence() {
      return sequence
    },
    get timestamp() {
      return timestamp
    },
    book: () => (shown ??= { buys: buys.levels(), sells: sells.levels(), ...last }),
  }
}

const isOrderly = ({ sequence, timestamp }: { sequence: number; timestamp: number }) =>
  Number.isSafeInteger(sequence) && Number.isFinite(timestamp)

/** In their one spelling; undefined where one is no number. */
export function lastTradesOf({ lastPrice, volume24h }: LastTrades): LastTrades | undefined {
  const [price, volume] = [lastPrice, volume24h].map((each) => (each === undefined ? undefined : canonicalDecimal(each)))
  if ((lastPrice !== undefined && price === undefined) || (volume24h !== undefined && volume === undefined)) return undefined
  return { ...(price !== undefined && { lastPrice: price }), ...(volume !== undefined && { volume24h: volume }) }
}

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
    const ladder = createPriceLevels(side)
    ladder.replace(given)
    return ladder.levels()
  }
  return { buys: levels('buys', buys), sells: levels('sells', sells) }
}
