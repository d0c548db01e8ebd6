import { StoreUnavailable } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { Journal } from '../../../core/transactions/journal/journal.ts'

/** What happens instead of a call. Absent ones go through. */
export interface Faults {
  open?: (keep: () => Promise<void>) => Promise<void>
  write?: (keep: () => Promise<boolean>, entries: readonly Entry[]) => Promise<boolean>
  read?: (keep: () => Promise<Entry | undefined>) => Promise<Entry | undefined>
  /** Every call fails. */
  away?: boolean
}

export const away = (uncertain = false) => new StoreUnavailable('its database is away', { uncertain })

/** A journal that fails as the test says. */
export function faultyJournal(journal: Journal, faults: Faults): Journal {
  const reach = async (): Promise<void> => {
    if (faults.away) throw away()
  }
  return {
    admit: (...args) => journal.admit(...args),
    async open(...args) {
      await reach()
      const keep = () => journal.open(...args)
      return faults.open ? faults.open(keep) : keep()
    },
    reserve: async (...args) => (await reach(), journal.reserve(...args)),
    revalue: async (...args) => (await reach(), journal.revalue(...args)),
    async write(...args) {
      await reach()
      const keep = () => journal.write(...args)
      return faults.write ? faults.write(keep, args[0]) : keep()
    },
    async read(...args) {
      await reach()
      const keep = () => journal.read(...args)
      return faults.read ? faults.read(keep) : keep()
    },
    find: async (...args) => (await reach(), journal.find(...args)),
    unfinished: async (...args) => (await reach(), journal.unfinished(...args)),
    outstanding: async (...args) => (await reach(), journal.outstanding(...args)),
    openQueues: async () => (await reach(), journal.openQueues()),
    list: async (...args) => (await reach(), journal.list(...args)),
    eventsAfter: async (...args) => (await reach(), journal.eventsAfter(...args)),
    lastEventId: async () => (await reach(), journal.lastEventId()),
    orders: journal.orders,
    ended: journal.ended,
  }
}

/** Whether a write has signed bytes. */
export const bringsBytes = (entries: readonly Entry[]): boolean => entries.some(({ state }) => state === 'SIGNED')
