// Clients that could trade before there was the permission thin: what they could do before an upgrade, they can do after it.
import type { Store } from './store.ts'

/** Its row says that the store was made before, and that no server has listed the clients yet. */
const unlisted = ''

/**
 * Their ids. The first server on a store of before lists them; a store that was made with the permission has none.
 * @param traders ids of the clients that may trade now
 */
export function readKeptThin(store: Store, traders: readonly string[]): Promise<ReadonlySet<string>> {
  return store.write(async (tx) => {
    const { numDeletedRows } = await tx.deleteFrom('kept_thin').where('client', '=', unlisted).executeTakeFirst()
    if (numDeletedRows > 0n && traders.length > 0)
      await tx
        .insertInto('kept_thin')
        .values(traders.map((client) => ({ client })))
        .onConflict((oc) => oc.doNothing())
        .execute()
    const rows = await tx.selectFrom('kept_thin').select('client').execute()
    return new Set(rows.map(({ client }) => client))
  })
}
