import type { Entry } from '../entry.ts'
import type { ClientOrder } from '../book-orders.ts'
import type { Guard, Journal, KeptAnswer, KeyClaim } from './journal.ts'

/** A later version of an entry, and the one that it was made of. */
export interface Change {
  before: Entry
  after: Entry
}

/** The journal, as the parts of a transaction's way write to it: every write is told of once it is durable. */
export interface Recorder extends Omit<Journal, 'write'> {
  /** All of them or none: as they are kept; undefined where one was written by somebody else meanwhile. */
  write(changes: readonly Change[], guard: Guard, answer?: KeptAnswer): Promise<readonly Entry[] | undefined>
  /**
   * Applies a change to the newest version, again where somebody else wrote in between; a change that returns what it got
   * writes nothing. Gives the entry as it is then kept.
   * @param entry as it was last seen
   */
  amend(entry: Entry, change: (entry: Entry) => Entry, guard: Guard): Promise<Entry>
}

/** Every write of one entry in a row is won by somebody, so this many losses are a defect. */
const maxTries = 100

/** @param onChange told of every entry that was written, and what it was before (absent: new) */
export function createRecorder(journal: Journal, onChange: (entry: Entry, before?: Entry) => void, nowMs: () => number): Recorder {
  async function write(changes: readonly Change[], guard: Guard, answer?: KeptAnswer): Promise<readonly Entry[] | undefined> {
    const updatedAt = nowMs()
    const later = changes.map(({ before, after }) => ({ ...after, version: before.version + 1, updatedAt }))
    if (!(await journal.write(later, guard, answer))) return undefined
    for (const [index, entry] of later.entries()) onChange(entry, changes[index]?.before)
    return later
  }

  return {
    read: (key) => journal.read(key),
    find: (chain, network, txHash) => journal.find(chain, network, txHash),
    unfinished: (of) => journal.unfinished(of),
    openLanes: () => journal.openLanes(),
    eventsAfter: (id, of) => journal.eventsAfter(id, of),
    lastEventId: () => journal.lastEventId(),
    list: (filter) => journal.list(filter),
    orders: journal.orders,
    async open(entries, guard, claim?: KeyClaim, orders?: readonly ClientOrder[]) {
      await journal.open(entries, guard, claim, orders)
      for (const entry of entries) onChange(entry)
    },
    write,
    async amend(entry, change, guard) {
      let before = entry
      for (let tries = 0; tries < maxTries; tries += 1) {
        const after = change(before)
        if (after === before) return before
        const [written] = (await write([{ before, after }], guard)) ?? []
        if (written) return written
        const kept = await journal.read(before.key)
        if (!kept) throw new Error(`The journal has lost ${before.key}.`)
        before = kept
      }
      throw new Error(`The journal did not take a change of ${entry.key} in ${maxTries} tries.`)
    },
  }
}
