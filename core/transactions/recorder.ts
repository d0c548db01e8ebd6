import type { Entry } from './entry.ts'
import type { Journal } from './journal.ts'

/** The journal, as the parts of a transaction's way write to it. */
export interface Recorder extends Journal {
  /**
   * Applies a change to the newest version, again where somebody else wrote in between; a change that returns what it got
   * writes nothing. Gives the entry as it is then kept.
   */
  amend(key: string, change: (entry: Entry) => Entry): Promise<Entry | undefined>
}

/** Every write of one entry in a row is won by somebody, so this many losses are a defect. */
const maxTries = 100

/** @param onChange told of every entry that was written, after it is durable */
export function createRecorder(journal: Journal, onChange: (entry: Entry) => void, nowMs: () => number): Recorder {
  return {
    read: (key) => journal.read(key),
    find: (chain, network, txHash) => journal.find(chain, network, txHash),
    unfinished: (of) => journal.unfinished(of),
    openLanes: () => journal.openLanes(),
    eventsAfter: (id, of) => journal.eventsAfter(id, of),
    lastEventId: () => journal.lastEventId(),
    list: (filter) => journal.list(filter),
    async open(entries, guard, claim) {
      await journal.open(entries, guard, claim)
      for (const entry of entries) onChange(entry)
    },
    async write(entries, guard, answer) {
      const written = await journal.write(entries, guard, answer)
      if (written) for (const entry of entries) onChange(entry)
      return written
    },
    async amend(key, change) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const entry = await journal.read(key)
        if (!entry) return undefined
        const changed = change(entry)
        if (changed === entry) return entry
        const next = nextVersion(changed, entry, nowMs())
        if (await this.write([next], { lane: '', fence: 0 })) return next
      }
      throw new Error(`The journal did not take a change of ${key} in ${maxTries} tries.`)
    },
  }
}

export function nextVersion(changed: Entry, { version }: Entry, nowMs: number): Entry {
  return { ...changed, version: version + 1, updatedAt: nowMs }
}
