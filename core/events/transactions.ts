import { setImmediate as soon } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { JournalEvent } from '../transactions/journal/journal.ts'
import type { TransactionEvents } from '../transactions/transactions.ts'
import { createNotifier, pause } from '../async.ts'

/** Which changes a stream is for. */
export interface TransactionFilter {
  chain?: string
  network?: string
  /** In lower case; undefined: all. */
  addresses?: ReadonlySet<string>
}

/** A change, with its event as it goes over the wire. */
interface TransactionChange {
  id: number
  chain: string
  network: string
  address: string
  frame: string
}

/** What came after a position, oldest first, and how far that goes: nothing wanted was left out up to there. */
interface ChangePage {
  changes: readonly TransactionChange[]
  upTo: number
}

export interface TransactionChanges {
  /** The newest change that was read, for who follows. */
  newest(): number
  /** Rings at every change from now on, until what it gives is called. */
  follow(ring: () => void): Promise<() => void>
  take(after: number, wanted: TransactionFilter): Promise<ChangePage>
}

/** What other servers write is found by looking. */
const lookMs = 1_000
/** So long after a write of ours more of them are waited for, to read them together. */
const gatherMs = 5
const pageSize = 200
/** How many changes are kept for the streams that are up to date; a stream that is further behind reads the journal itself. */
const mostKept = 1_000

/** Follows the journal with one reader for all streams. */
export function createTransactionChanges(
  events: TransactionEvents,
  frameOf: (event: JournalEvent) => string,
  log: Pick<Logger, 'warn'>,
): TransactionChanges {
  const followers = new Set<() => void>()
  const written = createNotifier()
  let reading: Promise<void> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  /** All that are after `floor`, up to `tail`. */
  let kept: TransactionChange[] = []
  let floor = 0
  let tail = 0

  const changeOf = (event: JournalEvent): TransactionChange => {
    const { chain, network, address } = event.entry
    return { id: event.id, chain, network, address, frame: frameOf(event) }
  }

  async function start(): Promise<void> {
    floor = tail = await events.lastId()
    kept = []
    void read()
  }

  async function read(): Promise<void> {
    const unhear = events.onWrite(() => written.notify())
    let failing = false
    while (followers.size > 0) {
      let more = false
      try {
        more = await readPage()
        failing = false
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (!failing) log.warn({ reason }, 'the journal could not be read for those who follow events; it is tried again')
        failing = true
      }
      if (!more && (await written.wait(lookMs))) await pause(gatherMs)
    }
    unhear()
    reading = undefined
    kept = []
  }

  /** Whether there is more at once. */
  async function readPage(): Promise<boolean> {
    const page = await events.after(tail, { limit: pageSize })
    const last = page.at(-1)
    if (!last) return false
    kept.push(...page.map(changeOf))
    tail = last.id
    for (const { id } of kept.splice(0, kept.length - mostKept)) floor = id
    for (const ring of followers) ring()
    // Rows that cannot be read are left out of a page.
    return page.length > pageSize / 2
  }

  /** One after the other, and everything else in between: many who come back from afar hold up nobody. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(() => soon()).then(work)
    turn = done.catch(() => {})
    return done
  }

  return {
    newest: () => tail,
    async follow(ring) {
      followers.add(ring)
      try {
        await (reading ??= start())
      } catch (error) {
        reading = undefined
        followers.delete(ring)
        throw error
      }
      return () => {
        followers.delete(ring)
        if (followers.size === 0) written.notify()
      }
    },
    async take(after, wanted) {
      if (after >= floor) {
        const changes: TransactionChange[] = []
        for (let i = kept.length - 1; i >= 0; i--) {
          const change = kept[i]
          if (!change || change.id <= after) break
          if (isWanted(change, wanted)) changes.push(change)
        }
        return { changes: changes.toReversed(), upTo: Math.max(after, tail) }
      }
      // What this reader has seen, the journal has too: where it has nothing more that is wanted, nothing is left out up to there.
      const seen = tail
      const page = await inTurn(() => events.after(after, { ...wanted, limit: pageSize }))
      return { changes: page.map(changeOf), upTo: page.at(-1)?.id ?? Math.max(after, seen) }
    },
  }
}

const isWanted = ({ chain, network, address }: TransactionChange, wanted: TransactionFilter): boolean =>
  (wanted.chain ?? chain) === chain && (wanted.network ?? network) === network && (wanted.addresses?.has(address.toLowerCase()) ?? true)
