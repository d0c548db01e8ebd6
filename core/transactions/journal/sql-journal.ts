import type { Log } from '../../contracts/index.ts'
import type { Store } from '../../store/store.ts'
import type { EntryRow } from '../../store/tables.ts'
import { sqlOrders } from '../book-orders.ts'
import { type Entry, canonicalHash, railName, isFinal } from '../entry.ts'
import { embeddedWriter } from './embedded.ts'
import { readBody, isOnRail, folded } from './entry-rows.ts'
import type { Journal, EntryFilter } from './journal.ts'
import { journalEvents, postgresWriter } from './postgres.ts'

/**
 * The journal in the store's tables.
 * @param log told of rows that cannot be read: one of them ends no list, but whoever asks for it alone gets the error
 */
export function sqlJournal(store: Store, log?: Pick<Log, 'warn'>): Journal {
  const damaged = (error: unknown) =>
    log?.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'a row of the journal is damaged')
  const orders = sqlOrders(store, damaged)
  const { open, write } = store.kind === 'embedded' ? embeddedWriter(store) : postgresWriter(store, orders)

  return {
    open: (entries, guard, claim, placed = []) => open(entries, guard, claim, placed),
    write: (entries, guard, answer) => write(entries, guard, answer),
    async read(key) {
      const row = await store.read((db) => db.selectFrom('entries').select('body').where('key', '=', key).executeTakeFirst())
      return row && readBody(key, row.body)
    },
    async find(chain, network, txHash) {
      const row = await store.read((db) =>
        db
          .selectFrom('hashes')
          .innerJoin('entries', 'entries.key', 'hashes.entry_key')
          .select(['entries.key', 'entries.body'])
          .where('hashes.hash', '=', canonicalHash(txHash))
          .where('hashes.chain', '=', chain)
          .where('hashes.network', '=', network)
          .executeTakeFirst(),
      )
      return row && readBody(row.key, row.body)
    },
    // None is left out that cannot be read: its nonce would be given to another.
    async unfinished({ chain, network, ...lane }) {
      const rows = await store.read((db) =>
        db
          .selectFrom('entries')
          .select(['key', 'body'])
          .where('final', '=', 0)
          .where('chain', '=', chain)
          .where('network', '=', network)
          .where(isOnRail(lane))
          .orderBy('key')
          .execute(),
      )
      return rows.map(({ key, body }) => readBody(key, body))
    },
    // No body is read: one that is damaged keeps its own wallet from being taken up, and no other.
    async openQueues() {
      const rows = await store.read((db) =>
        db.selectFrom('entries').select(['chain', 'network', 'via', 'lane']).distinct().where('final', '=', 0).execute(),
      )
      return rows.map(({ chain, network, via, lane }) => {
        const place = { chain, network, ...(via !== null && { connector: via }) }
        return { ...place, address: lane.slice(railName(place).length + 1) }
      })
    },
    async list(filter) {
      const { rows, nextCursor } = await listRows(store, filter)
      const entries = rows.flatMap(({ key, body }): Entry[] => {
        try {
          return [readBody(key, body)]
        } catch (error) {
          damaged(error)
          return []
        }
      })
      return nextCursor === undefined ? { entries } : { entries, nextCursor }
    },
    orders,
    ...journalEvents(store, damaged),
  }
}

const defaultLimit = 100
const maxLimit = 500

/** Newest first, and where the next page begins. */
async function listRows(store: Store, filter: EntryFilter): Promise<{ rows: Pick<EntryRow, 'key' | 'body'>[]; nextCursor?: string }> {
  const { chain, network, address, addresses, state, txHash, idempotencyKey, requestId, client, nonce, on, cursor } = filter
  const limit = Math.min(filter.limit ?? defaultLimit, maxLimit)
  if (addresses?.size === 0) return { rows: [] }
  const rows = await store.read((db) => {
    let query = db.selectFrom('entries').select(['key', 'body'])
    if (chain !== undefined) query = query.where('chain', '=', chain)
    if (network !== undefined) query = query.where('network', '=', network)
    if (address !== undefined) query = query.where('address', '=', folded(address))
    if (addresses) query = query.where('address', 'in', [...addresses])
    if (state !== undefined) query = query.where('state', '=', state)
    // The few that are open have an index of their own.
    if (state !== undefined && !isFinal({ state })) query = query.where('final', '=', 0)
    if (idempotencyKey !== undefined) query = query.where('idempotency_key', '=', idempotencyKey)
    if (requestId !== undefined) query = query.where('request_id', '=', requestId)
    if (client !== undefined) query = query.where('client', '=', client)
    if (on) query = query.where(isOnRail(on))
    if (nonce !== undefined) query = query.where('nonce', '=', nonce)
    if (txHash !== undefined)
      query = query.where('key', 'in', db.selectFrom('hashes').select('entry_key').where('hash', '=', canonicalHash(txHash)))
    if (cursor !== undefined) query = query.where('key', '<', cursor)
    return query
      .orderBy('key', 'desc')
      .limit(limit + 1)
      .execute()
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return rows.length > limit && last ? { rows: page, nextCursor: last.key } : { rows: page }
}
