import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createNotifier, pause } from '../base/async.ts'
import { badFields, reasonOf } from '../base/errors.ts'
import type { JournalEvent } from '../transactions/journal/journal.ts'
import type { TransactionEvents } from '../transactions/transactions.ts'
import { addressKey } from '../base/addresses.ts'

/** The changes that a stream is for. */
export interface TransactionFilter {
  chain?: string
  network?: string
  /** By `addressKey`; undefined: all. */
  addresses?: ReadonlySet<string>
}

/** A change of a transaction, with its event as it is sent. */
interface TransactionChange {
  id: number
  chain: string
  network: string
  address: string
  frame: string
}

/** Changes after a position, oldest first. No change that passes the filter is missing up to `upTo`. */
interface ChangePage {
  changes: readonly TransactionChange[]
  upTo: number
}

/** The topic `transactions`: every change of a transaction, once and in order, from any position of the journal. */
export interface TransactionChanges {
  /** Calls back at every change until the returned function is called. */
  follow(notify: () => void): Promise<() => void>
  /** The position after an event, or at the end without an id. For followers only. @throws SluiceError INCOMPLETE_PARAMS for an id that this journal never had */
  startAfter(id: number | undefined): Promise<number>
  take(after: number, filter: TransactionFilter): Promise<ChangePage>
}

/** The changes of other servers are found by polling. */
const pollMs = 1_000
/** After a change of ours more of them are waited for, so that they are read together. */
const gatherMs = 5
const pageSize = 200
/** Changes kept for streams that are up to date. A stream further behind reads the journal itself. */
const maxKept = 1_000

/** Reads the journal once for all streams. */
export function createTransactionChanges(
  events: TransactionEvents,
  frameOf: (event: JournalEvent) => string,
  log: Pick<Logger, 'warn'>,
): TransactionChanges {
  const followers = new Set<() => void>()
  const written = createNotifier()
  let reading: Promise<void> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  /** All changes after `floor`, up to `tail`. */
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
    const unsubscribe = events.onWrite(() => written.notify())
    let isFailing = false
    while (followers.size > 0) {
      let hasMore = false
      try {
        hasMore = await readPage()
        isFailing = false
      } catch (error) {
        const reason = reasonOf(error)
        if (!isFailing) log.warn({ reason }, 'reading the journal for event streams failed; retrying')
        isFailing = true
      }
      if (!hasMore && (await written.wait(pollMs))) await pause(gatherMs)
    }
    unsubscribe()
    reading = undefined
    kept = []
  }

  /** Whether the journal has more at once. */
  async function readPage(): Promise<boolean> {
    const page = await events.after(tail, { limit: pageSize })
    const last = page.at(-1)
    if (!last) return false
    kept.push(...page.map(changeOf))
    tail = last.id
    for (const { id } of kept.splice(0, kept.length - maxKept)) floor = id
    for (const notify of followers) notify()
    // A full page may be shorter than its limit: rows that cannot be read are left out.
    return page.length > pageSize / 2
  }

  /** One after the other with a turn of the event loop between: many streams that return from afar must not block the server. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(() => nextTurn()).then(work)
    queue = done.catch(() => {})
    return done
  }

  return {
    async follow(notify) {
      followers.add(notify)
      try {
        await (reading ??= start())
      } catch (error) {
        reading = undefined
        followers.delete(notify)
        throw error
      }
      return () => {
        followers.delete(notify)
        if (followers.size === 0) written.notify()
      }
    },
    async startAfter(id) {
      if (id === undefined) return tail
      // Another server may have written an event that this reader has not seen yet.
      const newest = id <= tail ? tail : await events.lastId()
      if (id <= newest) return id
      const problem = `${id} is of another journal: the newest event of this one is ${newest}. Leave it out, and read /transactions for what you missed`
      throw badFields([{ field: 'lastEventId', problem }])
    },
    async take(after, filter) {
      if (after >= floor) {
        const changes: TransactionChange[] = []
        for (let i = kept.length - 1; i >= 0; i--) {
          const change = kept[i]
          if (!change || change.id <= after) break
          if (passes(change, filter)) changes.push(change)
        }
        return { changes: changes.toReversed(), upTo: Math.max(after, tail) }
      }
      // The journal has all changes up to `tail`: if it returns no more that pass, none is missing up to there.
      const seen = tail
      const page = await enqueue(() => events.after(after, { ...filter, limit: pageSize }))
      return { changes: page.map(changeOf), upTo: page.at(-1)?.id ?? Math.max(after, seen) }
    },
  }
}

const passes = ({ chain, network, address }: TransactionChange, filter: TransactionFilter): boolean =>
  (filter.chain ?? chain) === chain && (filter.network ?? network) === network && (filter.addresses?.has(addressKey(address)) ?? true)
