import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../core/store/store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry, signed, wallet } from '../transactions/journal/entries.ts'
import { onBothStores } from './stores.ts'

/** As it was before orders were journaled. */
async function undo(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await sql`alter table requests drop column tag`.execute(tx)
    await sql`drop table orders`.execute(tx)
    await sql`drop index entries_signer`.execute(tx)
    for (const column of ['via', 'signer']) await sql`alter table entries drop column ${sql.ref(column)}`.execute(tx)
    await sql`delete from kysely_migration where name > '001-transactions'`.execute(tx)
  })
}

describe('a store of an older version', () => {
  onBothStores((place) => {
    it("keeps its journal, with every entry on the chain's rail", async () => {
      const before = await place().open()
      const lease = await giveLease(before)
      const entry = newEntry()
      await sqlJournal(before).open([entry], lease)
      await sqlJournal(before).write([signed(entry)], lease)
      await undo(before)
      await before.close()

      const journal = sqlJournal(await place().open())
      const network = { chain: 'ethereum', network: 'local' }
      expect(await journal.unfinished({ ...network, address: wallet })).to.deep.equal([signed(entry)])
      expect(await journal.unfinished({ ...network, connector: 'exchange', address: wallet })).to.deep.equal([])
      expect(await journal.openQueues()).to.deep.equal([{ ...network, address: wallet }])
      expect(await journal.orders.list({ ...network, connector: 'exchange', address: wallet, limit: 1 })).to.deep.equal([])
      await journal.open([newEntry({ kind: 'order' })], lease, undefined, [
        { clientOrderId: 'a', type: 'CLOB', market: 'A-B', index: 0, about: null },
      ])
      expect(await journal.orders.firstUsed({ ...network, connector: 'exchange', address: wallet }, ['a'])).to.equal('a')
    })
  })
})
