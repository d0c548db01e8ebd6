import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import type { Log } from '../../contracts/index.ts'
import { createTurns } from '../../base/async.ts'
import { reasonOf, SluiceError } from '../../base/errors.ts'
import { walletNumber } from '../../store/compact.ts'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import { sqlOrders } from '../book-orders.ts'
import type { Budgets, LaterFills, OrderEnd, PlannedSpending, Spending, SpendingClient } from '../budgets.ts'
import { isFinal, railName, type Entry } from '../entry.ts'
import { bodyColumns, type BodyRow, readArchivedBody, readBody, readShown } from './entry-rows.ts'
import { readEvent } from './entry-events.ts'
import { deleteEvents, listArchived, markEvents, moveOut, openPlaces, rowOfHash, selectEnded } from './archived-entries.ts'
import { embeddedWriter } from './embedded.ts'
import { createKeyLeads, type LimitedFilter } from './key-leads.ts'
import type { EntryFilter, EntryPage, Journal, JournalEvent, JournalWriter, OnRail, ReservingWrite, WithinWrite } from './journal.ts'
import { isOnRail, listEntries } from './list-entries.ts'
import { postgresWriter } from './postgres.ts'
import { raiseQuery, stopQuery } from '../stops.ts'
import { addressKey } from '../../base/addresses.ts'

const defaultLimit = 100
const maxLimit = 500
/** Bodies that are unpacked before other work has its turn: about a millisecond. */
const bodyRows = 50
/** Events that one statement reads, and their entries, before other work has its turn. */
const eventRows = 100
/** Ids that one statement looks at: a few milliseconds. */
const eventRange = 5_000

/** How each kind of database writes. Reading is the same SQL for all. */
const writers: Readonly<Record<Store['kind'], (store: Store) => JournalWriter>> = { embedded: embeddedWriter, postgres: postgresWriter }

/**
 * The journal in the store's tables.
 * @param log receives rows that cannot be read. A list leaves them out; asking for one alone is an error
 * @param budgets asked in their order in the transaction of every new entry, and before fees are raised; told of every end
 */
export function sqlJournal(store: Store, log?: Pick<Log, 'warn'>, budgets: readonly Budgets[] = []): Journal {
  const { open, withLease, write, settledEventId } = writers[store.kind](store)

  const { admit, reserving, revaluing, settling, endingOrder, countingFills } = within(budgets, store)

  const archiveTurns = createTurns()
  const keyLeads = createKeyLeads(store)

  function onDamage(error: unknown): void {
    log?.warn({ reason: reasonOf(error) }, 'a row of the journal is damaged')
  }

  /** The rows that can be read. */
  function readable<R, T>(rows: readonly R[], read: (row: R) => T, onDamaged?: (row: R) => void): T[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)]
      } catch (error) {
        onDamage(error)
        onDamaged?.(row)
        return []
      }
    })
  }

  /** As many as a caller asks for. */
  async function readPage(rows: readonly BodyRow[], { shownOnly }: EntryFilter): Promise<{ entries: Entry[]; damaged: string[] }> {
    const entries: Entry[] = []
    const damaged: string[] = []
    for (let start = 0; start < rows.length; start += bodyRows) {
      if (start > 0) await nextTurn()
      entries.push(...readable(rows.slice(start, start + bodyRows), shownOnly ? readShown : readBody, ({ key }) => damaged.push(key)))
    }
    return { entries, damaged }
  }

  const pageOf = (entries: readonly Entry[], damaged: readonly string[], nextCursor: string | undefined): EntryPage => ({
    entries,
    ...(damaged.length > 0 && { damaged }),
    ...(nextCursor !== undefined && nextCursor !== '' && { nextCursor }),
  })

  const lastEventId = async (): Promise<number> => newestEventId(store, (await settledEventId?.()) ?? Number.MAX_SAFE_INTEGER)

  /** Newest first. The archived ones are read last: an entry that is moved meanwhile is there twice, and shown once. */
  async function pageWithArchived(rows: readonly BodyRow[], filter: EntryFilter, limit: number): Promise<EntryPage> {
    const archived = await listArchived(store, filter, limit + 1, { inTurn: archiveTurns, onDamage })
    const { entries: journaled, damaged } = await readPage(rows, filter)
    const known = new Set(rows.map(({ key }) => key))
    // What is older than this was not looked at everywhere: it waits for the next page.
    const from = [archived.upTo ?? '', (rows.length > limit ? rows.at(-1)?.key : undefined) ?? ''].reduce((a, b) => (a > b ? a : b))
    const merged = [...journaled, ...archived.entries.filter(({ key }) => !known.has(key))]
      .filter(({ key }) => key >= from)
      .toSorted((a, b) => (a.key < b.key ? 1 : -1))
    const entries = merged.slice(0, limit)
    const nextCursor = merged.length > limit ? entries.at(-1)?.key : from
    const upTo = merged.length > limit ? (entries.at(-1)?.key ?? from) : from
    return pageOf(
      entries,
      [...damaged, ...archived.damaged].filter((key) => key >= upTo),
      nextCursor,
    )
  }

  /** A time in the filter is that of keys. */
  async function listByKeys(filter: LimitedFilter): Promise<EntryPage> {
    const { limit } = filter
    const rows = await listEntries(store, filter, limit + 1)
    if (includesArchived(filter)) return pageWithArchived(rows, filter, limit)
    const page = rows.slice(0, limit)
    const { entries, damaged } = await readPage(page, filter)
    return pageOf(entries, damaged, rows.length > limit ? page.at(-1)?.key : undefined)
  }

  /** Those that can be read, archived ones too. */
  async function entriesOf(rows: readonly { entry_key: string }[]): Promise<ReadonlyMap<string, Entry>> {
    const keys = [...new Set(rows.map((row) => row.entry_key))]
    if (keys.length === 0) return new Map()
    const found = await store.read((db) => db.selectFrom('entries').select(bodyColumns).where('key', 'in', keys).execute())
    const entries = new Map(readable(found, readBody).map((entry) => [entry.key, entry]))
    const missing = keys.filter((key) => !found.some((row) => row.key === key))
    if (missing.length === 0) return entries
    const archived = await store.read((db) => db.selectFrom('archived').select(bodyColumns).where('key', 'in', missing).execute())
    for (const entry of readable(archived, readArchivedBody)) entries.set(entry.key, entry)
    return entries
  }

  /** Oldest first. A damaged entry is an error here: if it were left out, its nonce would be assigned again. */
  async function entriesOn(
    which: typeof isOpen,
    { chain, network, ...rail }: OnRail & { readonly chain: string; readonly network: string },
  ): Promise<Entry[]> {
    const rows = await store.read((db) =>
      db
        .selectFrom('entries')
        .select(bodyColumns)
        .where(which)
        .where('chain', '=', chain)
        .where('network', '=', network)
        .where(isOnRail(rail))
        .orderBy('key')
        .execute(),
    )
    return rows.map(readOpen)
  }

  const orderJournal = sqlOrders(store, onDamage, { endOrder: endingOrder, countFills: countingFills })

  return {
    admit,
    open: (entries, lease, claim, orders = [], spending, lossCheck) =>
      keyLeads.writing(entries, () =>
        open(entries, lease, claim, orders, stopQuery(entries, spending?.client), reserving(spending), lossCheck),
      ),
    reserve: (spending, lease) => withLease(lease, raiseQuery(spending), isDearer(spending) ? reserving(spending)?.within : undefined),
    async revalue(waiting, lease) {
      const passing = new Map<string, string>()
      const work = revaluing(waiting, passing)
      if (work) await withLease(lease, undefined, work)
      return passing
    },
    write: (entries, lease, answer, finalBefore) => write(entries, lease, answer, settling(entries, finalBefore)),
    async read(key) {
      const row = await store.read((db) => db.selectFrom('entries').select(bodyColumns).where('key', '=', key).executeTakeFirst())
      return row && readBody(row)
    },
    async find(chain, network, txHash) {
      const row = await rowOfHash(store, 'entries', chain, network, txHash)
      if (row) return readBody(row)
      const archived = await rowOfHash(store, 'archived', chain, network, txHash)
      return archived && readArchivedBody(archived)
    },
    unfinished: (rail) => entriesOn(isOpen, rail),
    outstanding: ({ chain, network, address }) => entriesOn(isOutstanding, { chain, network, address }),
    // Reads no bodies, so that a damaged one blocks its own wallet only.
    async openQueues() {
      const queues = (where: typeof isOpen) =>
        store.read((db) => db.selectFrom('entries').select(['chain', 'network', 'via', 'lane']).distinct().where(where).execute())
      const rows = [...(await queues(isOpen)), ...(await queues(isOutstanding))]
      return [...new Map(rows.map((row) => [row.lane, row])).values()].map(({ chain, network, via, lane }) => {
        const rail = { chain, network, ...(via !== null && { connector: via }) }
        return { ...rail, address: lane.slice(railName(rail).length + 1) }
      })
    },
    list: ({ limit = defaultLimit, ...filter }) => keyLeads.list(listByKeys, { ...filter, limit: Math.min(limit, maxLimit) }),
    async eventsAfter(id, filter) {
      const { addresses, limit } = filter
      if (addresses?.size === 0) return []
      // Usually there is nothing new. Then there is no need to wait for other writers.
      if (settledEventId && (await newestEventId(store, Number.MAX_SAFE_INTEGER)) <= id) return []
      const newest = await lastEventId()
      const events: JournalEvent[] = []
      // There is no index of wallets: a range of ids is read, then other work has its turn.
      const range = addresses ? eventRange : Number.MAX_SAFE_INTEGER
      for (let after = id; after < newest;) {
        const upTo = Math.min(newest, after + range)
        const rows = await selectEvents(store, filter, { after, upTo, limit: eventRows })
        const entries = await entriesOf(rows)
        for (const row of rows) {
          const entry = entries.get(row.entry_key)
          if (!entry || !isAbout(entry, filter)) continue
          events.push(...readable([row], ({ change }): JournalEvent => ({ id: row.id, entry: readEvent(entry, change) })))
          if (events.length === limit) return events
        }
        after = rows.length < eventRows ? upTo : (rows.at(-1)?.id ?? upTo)
        await nextTurn()
      }
      return events
    },
    lastEventId,
    orders: orderJournal,
    ended: {
      select: (of) => selectEnded(store, of),
      openPlaces: () => openPlaces(store),
      async read(keys, onDamagedEntry) {
        const rows = await store.read((db) => db.selectFrom('entries').select(bodyColumns).where('key', 'in', keys).execute())
        const entries = rows.flatMap((row) => {
          try {
            return [readBody(row)]
          } catch (error) {
            onDamagedEntry(row.key, error)
            return []
          }
        })
        return orderJournal.withOrders(entries)
      },
      moveOut: (entries) => moveOut(store, entries),
      markEvents: async () => markEvents(store, await lastEventId()),
      deleteEvents: (olderThanMs) => deleteEvents(store, olderThanMs),
    },
  }
}

const isDearer = ({ steps }: Spending): boolean => steps.some(({ maxCostRaw, lastCostRaw = -1n }) => maxCostRaw > lastCostRaw)

/** What the budgets do in the writes of the journal; undefined where there is nothing to do. */
function within(budgets: readonly Budgets[], { read }: Pick<Store, 'read'>) {
  const admitting = budgets.find(({ admit }) => admit)
  const settlesEnds = () => budgets.some(({ settle, isIdle }) => settle && isIdle?.() !== true)
  return {
    admit: (of: SpendingClient, spending: () => PlannedSpending) => admitting?.admit?.(of, spending, read),
    reserving(spending: Spending | undefined): ReservingWrite | undefined {
      if (budgets.length === 0) return undefined
      if (!spending)
        return { within: () => Promise.reject(new Error('The budgets were not told what new entries spend.')), part: () => undefined }
      const asked = budgets.filter((each) => each.concerns?.(spending) !== false)
      if (asked.length === 0) return undefined
      const [first, ...others] = asked
      return {
        part: () => (others.length === 0 ? first?.part?.(spending) : undefined),
        async within(tx) {
          for (const each of asked) await each.reserve(spending, tx)
        },
      }
    },
    revaluing(waiting: readonly Entry[], passing: Map<string, string>): WithinWrite | undefined {
      const asked = budgets.filter(({ revalue, isIdle }) => revalue && isIdle?.() !== true)
      if (asked.length === 0) return undefined
      return async (tx) => {
        for (const each of asked) for (const [key, reason] of (await each.revalue?.(waiting, tx)) ?? []) passing.set(key, reason)
      }
    },
    endingOrder() {
      const asked = budgets.filter(({ endOrder, isIdle }) => endOrder && isIdle?.() !== true)
      if (asked.length === 0) return undefined
      return async (order: OrderEnd, tx: Transaction<Tables>) => {
        for (const each of asked) await each.endOrder?.(order, tx)
      }
    },
    countingFills() {
      const asked = budgets.filter(({ countFills, isIdle }) => countFills && isIdle?.() !== true)
      if (asked.length === 0) return undefined
      return {
        concerns: (entry: Entry) => asked.some((each) => each.countsFillsOf?.(entry) !== false),
        async count(fills: LaterFills, tx: Transaction<Tables>) {
          for (const each of asked) await each.countFills?.(fills, tx)
        },
      }
    },
    /** Once for each: what it set may have been replaced since. Permits may be used after their transaction has ended, and end what was set in between. */
    settling(entries: readonly Entry[], finalBefore: ReadonlySet<string> = new Set()): WithinWrite | undefined {
      const ends = (entry: Entry) => isFinal(entry) && (!finalBefore.has(entry.key) || entry.permits !== undefined)
      const ended = settlesEnds() ? entries.filter(ends) : []
      if (ended.length === 0) return undefined
      return async (tx) => {
        for (const each of budgets) await each.settle?.(ended, tx)
      }
    },
  }
}

/** @throws SluiceError SERVICE_UNINITIALIZED where it is damaged: what its wallet has sent is not known, so that nothing is signed for the wallet */
function readOpen(row: BodyRow): Entry {
  try {
    return readBody(row)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'It cannot be read.'
    throw new SluiceError(
      'SERVICE_UNINITIALIZED',
      `An open transaction of the wallet is not known, so that nothing is signed for it. ${reason}`,
      {
        cause,
      },
    )
  }
}

/** Archived entries are asked for, or named by what few entries have. */
const includesArchived = ({ archived, txHash, requestId, idempotencyKey }: EntryFilter): boolean =>
  archived === true || txHash !== undefined || requestId !== undefined || idempotencyKey !== undefined

async function newestEventId(store: Store, upTo: number): Promise<number> {
  const newest = await store.read((db) =>
    db
      .selectFrom('events')
      .select(({ fn }) => fn.max('id').as('id'))
      .where('id', '<=', upTo)
      .executeTakeFirst(),
  )
  return newest?.id ?? 0
}

type EventFilter = Parameters<Journal['eventsAfter']>[1]

function selectEvents(store: Store, { addresses }: EventFilter, { after, upTo, limit }: { after: number; upTo: number; limit: number }) {
  return store.read((db) => {
    let query = db.selectFrom('events').select(['id', 'entry_key', 'change']).where('id', '>', after).where('id', '<=', upTo)
    if (addresses) query = query.where('wallet', 'in', [...new Set([...addresses].map((each) => walletNumber(each)))])
    return query.orderBy('id').limit(limit).execute()
  })
}

const isAbout = ({ chain, network, address }: Entry, filter: EventFilter): boolean =>
  (filter.chain ?? chain) === chain && (filter.network ?? network) === network && (filter.addresses?.has(addressKey(address)) ?? true)

/** SQL, not as a parameter: only so does a database use the index of these entries alone. */
const isOpen = sql<boolean>`final = 0`
const isOutstanding = sql<boolean>`final = 1 and lane <> ''`
