import type { Book, BookUpdate, LastTrades } from '../contracts/index.ts'
import { canonicalDecimal } from '../base/decimal.ts'
import { dropOldest } from '../base/oldest.ts'
import { createPriceLevels, crossedBy } from './price-levels.ts'
import type { CheckOutcome } from './telemetry.ts'

type Snapshot = BookUpdate & { is: 'snapshot' }
type Change = BookUpdate & { is: 'change' }

/**
 * - `waiting`: for the first snapshot
 * - `good`: as the exchange had it at its sequence
 * - `gap`: a change is missing; later ones are kept
 * - `lost`: the exchange is away
 * - `faulty`: an update was invalid, `fault` says why
 */
export type BookStatus = 'waiting' | 'good' | 'gap' | 'lost' | 'faulty'

/**
 * - `changed`: the book is another one, or no longer good
 * - `confirmed`: the book is still as it was
 * - `traded`: the last trade is another one, the book is not
 * - `ignored`: the update could not be used
 */
type UpdateEffect = 'changed' | 'confirmed' | 'traded' | 'ignored'

/** A book by the updates of an exchange. A pure state machine: it has no clock and asks nothing. */
export interface StreamBook {
  take(update: BookUpdate): UpdateEffect
  readonly status: BookStatus
  readonly fault: string
  readonly sequence: number
  /** Milliseconds: when the exchange last confirmed the book. */
  readonly timestamp: number
  /** Valid only while the status is `good`. The same object until it changes. */
  book(): Book & LastTrades
}

/** Changes that came too early are kept up to this number. The oldest go first, and then a snapshot is needed anyway. */
const maxEarly = 1_000

export function createStreamBook(): StreamBook {
  const buys = createPriceLevels('buys')
  const sells = createPriceLevels('sells')
  let status: BookStatus = 'waiting'
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
    status = 'faulty'
    fault = why
    early = []
    return 'changed'
  }

  function takeSnapshot(update: Snapshot): UpdateEffect {
    if (!isOrdered(update)) return fail('a snapshot has no sequence or timestamp')
    const isOld = status === 'good' ? update.sequence <= sequence : status === 'gap' && update.sequence < sequence
    if (isOld) {
      if (status !== 'good' || update.sequence !== sequence) return 'ignored'
      timestamp = Math.max(timestamp, update.timestamp)
      return 'confirmed'
    }
    const isValid = [buys.replace(update.book?.buys), sells.replace(update.book?.sells)].every(Boolean)
    if (!isValid) return fail('a snapshot has levels that are not sorted best first with each price once, or are not numbers above 0')
    const crossed = crossedBy(buys, sells)
    if (crossed !== undefined) return fail(crossed)
    status = 'good'
    sequence = update.sequence
    timestamp = update.timestamp
    takeEarly()
    return changed()
  }

  function takeChange(update: Change): UpdateEffect {
    if (!isOrdered(update) || !Number.isSafeInteger(update.follows) || update.follows >= update.sequence || !Array.isArray(update.levels))
      return fail('a change has no sequence, no valid number of the change before it, or no levels')
    const hasBook = status === 'good' || status === 'gap'
    if (hasBook && update.sequence <= sequence) return 'ignored'
    if (hasBook && update.follows <= sequence) {
      status = 'good'
      if (apply(update)) takeEarly()
      return changed()
    }
    // It continues the lost stream. The next one begins with a snapshot.
    if (status === 'lost') return 'ignored'
    early.push(update)
    if (early.length > maxEarly) early.shift()
    if (status !== 'good') return 'ignored'
    status = 'gap'
    return changed()
  }

  /** A change gives the quantities at its prices as of its sequence: it applies to any book from `follows` up to itself. */
  function apply({ levels, ...update }: Change): boolean {
    for (const level of levels) {
      const side = level?.side === 'buys' ? buys : level?.side === 'sells' ? sells : undefined
      if (!side?.set(level.price, level.quantity)) {
        fail('a change has a level with an invalid side, price or quantity')
        return false
      }
    }
    sequence = update.sequence
    timestamp = update.timestamp
    const crossed = crossedBy(buys, sells)
    if (crossed !== undefined) fail(crossed)
    return crossed === undefined
  }

  /** Applies the changes that came too early and fit now. If others are missing in between, the gap remains. */
  function takeEarly(): void {
    const waiting = early.toSorted((a, b) => a.sequence - b.sequence)
    early = []
    for (const update of waiting) {
      if (status !== 'good') return
      if (update.sequence <= sequence) continue
      if (update.follows > sequence) early.push(update)
      else if (!apply(update)) return
    }
    if (early.length > 0) status = 'gap'
  }

  return {
    take(update) {
      switch (update?.is) {
        case 'snapshot':
          return takeSnapshot(update)
        case 'change':
          return takeChange(update)
        case 'traded': {
          const trades = readLastTrades(update)
          if (!trades) return fail('the last price or the volume is not a number')
          last = { ...last, ...trades }
          shown = undefined
          return 'traded'
        }
        case 'alive':
          if (!Number.isFinite(update.timestamp)) return fail('a heartbeat has no timestamp')
          timestamp = Math.max(timestamp, update.timestamp)
          return 'confirmed'
        case 'lost':
          status = 'lost'
          early = []
          return changed()
        default:
          return fail('an update is of an unknown kind')
      }
    },
    get status() {
      return status
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

const isOrdered = ({ sequence, timestamp }: { sequence: number; timestamp: number }) =>
  Number.isSafeInteger(sequence) && Number.isFinite(timestamp)

/** The last trade and volume with canonical numbers; undefined if one is not a number. */
export function readLastTrades({ lastPrice, volume24h }: LastTrades): LastTrades | undefined {
  const [price, volume] = [lastPrice, volume24h].map((each) => (each === undefined ? undefined : canonicalDecimal(each)))
  if ((lastPrice !== undefined && price === undefined) || (volume24h !== undefined && volume === undefined)) return undefined
  return { ...(price !== undefined && { lastPrice: price }), ...(volume !== undefined && { volume24h: volume }) }
}

/** Compares the books in memory with a snapshot of the exchange of the same sequence, whichever of the two comes first. */
export interface StreamCheck {
  /** Adds a book from memory. */
  addOurs(sequence: number, book: Book): void
  /** Sets the snapshot of the exchange. */
  setTheirs(snapshot: Snapshot): void
  /** Undefined until memory has reached the snapshot's sequence. */
  outcome(): CheckOutcome | undefined
}

/** Books kept while a check waits for the exchange. */
const maxKept = 256

export function createStreamCheck(): StreamCheck {
  const kept = new Map<number, Book>()
  let newest = -1
  let theirs: { sequence: number; book: string } | undefined
  return {
    addOurs(sequence, { buys, sells }) {
      newest = sequence
      if (theirs && sequence < theirs.sequence) return
      kept.set(sequence, { buys, sells })
      dropOldest(kept, maxKept)
    },
    setTheirs({ sequence, book }) {
      theirs = { sequence, book: canonicalBook(book) }
    },
    outcome() {
      if (!theirs || newest < theirs.sequence) return undefined
      const ours = kept.get(theirs.sequence)
      if (!ours) return 'unclear'
      return canonicalBook(ours) === theirs.book ? 'equal' : 'different'
    },
  }
}

/** The levels as JSON with canonical numbers. */
function canonicalBook(book: Book): string {
  const levels = (['buys', 'sells'] as const).map((side) => {
    const each = createPriceLevels(side)
    each.replace(book[side])
    return each.levels()
  })
  return JSON.stringify(levels)
}
