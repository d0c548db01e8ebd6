// Fills of orders that were made after the order was placed count in the limits of its client, in the write that stores them.
import type { Json } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { Budgets, LaterFills } from './budgets.ts'
import { canonicalHash } from '../base/addresses.ts'
import type { Entry } from './entry.ts'
import { bodyColumns, readArchivedBody, readBody } from './journal/entry-rows.ts'
import type { FillsWriter, OrderFill } from './order-fills.ts'

/** What some fills of an order are of it, and what they lost; undefined where that cannot be told, `not yet` where it will be. @param about as the journal has it */
export type FillsValue = (about: Json, fills: readonly OrderFill[]) => Pick<LaterFills, 'part' | 'lostMicros'> | 'not yet' | undefined

/** Undoes what would be counted twice. */
class StoredBefore extends Error {}

/** In the write that stores fills. */
export interface FillsCount {
  /** Whether something counts the fills of what the entry has placed. */
  concerns(entry: Entry): boolean
  /** Called in the write. */
  count: NonNullable<Budgets['countFills']>
}

/** Fills that cannot be valued yet are not stored, where they count: else nobody would ask for them again. */
export function countingWriter(store: Store, valueOf: FillsValue, { concerns, count }: FillsCount): FillsWriter {
  return async ({ entryKey, index, orderId, about }, added, change) => {
    const entry = await readEntry(store, entryKey)
    const later = entry && concerns(entry) ? added.filter(({ txHash }) => !isOf(entry, txHash)) : []
    const value = later.length > 0 ? valueOf(about, later) : undefined
    if (value === 'not yet') return false
    if (!entry || !value || value.lostMicros <= 0n) return (await store.writeOnce(change)).numUpdatedRows > 0n
    try {
      await store.write(async (tx) => {
        // First, as in every write of the journal: budgets are locked before orders, so that no two transactions wait for each other.
        await count({ entry, index, ...(orderId !== undefined && { orderId }), ...value }, tx)
        if ((await change(tx)).numUpdatedRows === 0n) throw new StoredBefore()
      })
      return true
    } catch (error) {
      if (!(error instanceof StoredBefore)) throw error
      return false
    }
  }
}

/** What was filled by the transaction that placed it counts with what that did. */
const isOf = ({ landed }: Entry, txHash: string | undefined): boolean =>
  txHash !== undefined && landed !== undefined && canonicalHash(landed.id) === canonicalHash(txHash)

/** What placed an order; undefined where that is gone, or cannot be read. */
async function readEntry(store: Store, key: string): Promise<Entry | undefined> {
  const [open, archived] = await store.read(async (db) => [
    await db.selectFrom('entries').select(bodyColumns).where('key', '=', key).executeTakeFirst(),
    await db.selectFrom('archived').select(bodyColumns).where('key', '=', key).executeTakeFirst(),
  ])
  try {
    return open ? readBody(open) : archived && readArchivedBody(archived)
  } catch {
    return undefined
  }
}
