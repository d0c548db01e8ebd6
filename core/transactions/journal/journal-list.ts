import type { Store } from '../../store/store.ts'
import type { EntryRow } from '../../store/tables.ts'
import { isFinal } from '../entry.ts'
import type { Filter } from './journal.ts'
import { canonicalHash } from '../canonical-hash.ts'
import { folded } from './folded.ts'
import { onLane } from './on-lane.ts'

const defaultLimit = 100
const maxLimit = 500

/** Newest first, and where the next page begins. */
export async function listRows(store: Store, filter: Filter): Promise<{ rows: Pick<EntryRow, 'key' | 'body'>[]; nextCursor?: string }> {
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
    if (on) query = query.where(onLane(on))
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
