import { StoreUnavailable } from '../../store/store-unavailable.ts'
import { Superseded } from '../../transactions/journal/superseded.ts'
import { type Journal } from '../../transactions/journal/journal.ts'
import type { TransactionMetrics } from '../transaction-metrics.ts'

type Metrics = Pick<TransactionMetrics, 'journalSeconds' | 'journalFailures'>

/** The same journal, with the time that each durable write takes and the failures of writing. */
export function observeJournal(journal: Journal, { journalSeconds, journalFailures }: Metrics): Journal {
  async function timed<T>(operation: 'open' | 'write', work: () => Promise<T>): Promise<T> {
    const over = journalSeconds.startTimer({ operation })
    try {
      const done = await work()
      over()
      return done
    } catch (error) {
      journalFailures.inc({ operation, reason: reasonOf(error) })
      throw error
    }
  }
  return {
    open: (...args) => timed('open', () => journal.open(...args)),
    write: (...args) => timed('write', () => journal.write(...args)),
    read: (...args) => journal.read(...args),
    find: (...args) => journal.find(...args),
    unfinished: (...args) => journal.unfinished(...args),
    openLanes: () => journal.openLanes(),
    list: (...args) => journal.list(...args),
    eventsAfter: (...args) => journal.eventsAfter(...args),
    lastEventId: () => journal.lastEventId(),
    orders: journal.orders,
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return error.uncertain ? 'uncertain' : 'unavailable'
  return error instanceof Superseded ? 'superseded' : 'defect'
}
