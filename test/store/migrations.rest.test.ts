import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../core/store/store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { createIdempotency, type Idempotency } from '../../core/transactions/idempotency.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { giveKey, giveLease, newEntry, next, signed, wallet } from '../transactions/journal/entries.ts'
import { onBothStores } from './stores.ts'

/** As it was before entries were archived. */
async function undoArchive(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await sql`drop index entries_ended`.execute(tx)
    await sql`alter table entries drop column ended_at`.execute(tx)
    for (const name of ['archived', 'event_marks']) await sql`drop table ${sql.ref(name)}`.execute(tx)
    await sql`delete from kysely_migration where name > '006-entry-filters'`.execute(tx)
  })
}

/** As it was before keys aged by the store's time. */
async function undoAges(store: Store): Promise<void> {
  await undoArchive(store)
  await store.write(async (tx) => {
    for (const name of ['entries_of_wallet', 'entries_in_state', 'entries_of_wallet_in_state'])
      await sql`drop index ${sql.ref(name)}`.execute(tx)
    for (const column of ['address', 'state'])
      await sql`create index ${sql.ref(`entries_${column}`)} on entries (${sql.ref(column)}, key)`.execute(tx)
    await sql`drop index requests_ages_from`.execute(tx)
    await sql`alter table requests drop column ages_from`.execute(tx)
    await sql`create index requests_created_at on requests (created_at)`.execute(tx)
    await sql`drop table store_time`.execute(tx)
    await sql`delete from kysely_migration where name > '003-request-tags'`.execute(tx)
  })
}

/** As it was before orders were journaled. */
async function undo(store: Store): Promise<void> {
  await undoAges(store)
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
      expect((await journal.list({ ...network, address: wallet, state: 'SIGNED' })).entries).to.deep.equal([signed(entry)])
      expect(await journal.openQueues()).to.deep.equal([{ ...network, address: wallet }])
      expect(await journal.orders.list({ ...network, connector: 'exchange', address: wallet, limit: 1 })).to.deep.equal([])
      await journal.open([newEntry({ kind: 'order' })], lease, undefined, [
        { clientOrderId: 'a', type: 'CLOB', market: 'A-B', index: 0, about: null },
      ])
      expect(await journal.orders.firstUsed({ ...network, connector: 'exchange', address: wallet }, ['a'])).to.equal('a')
    })

    describe('with Idempotency-Keys that aged by the clocks of machines', () => {
      let idempotency: Idempotency
      let store: Store
      afterEach(() => idempotency.stop())

      const errorOf = (key: string) =>
        idempotency
          .once({
            key: { client: 'bot', path: '/trade', key },
            request: {},
            requestId: 'again',
            act: () => Promise.reject(new Error('It was done again.')),
          })
          .catch((error: unknown) => error)

      /** Opens what an older version left, and lets a year pass on it. */
      async function reopen(before: Store): Promise<void> {
        await undoAges(before)
        await before.close()
        store = await place().open()
        idempotency = createIdempotency({ store, serverId: 'new', log: { info: () => {}, warn: () => {} } })
        await store.write((tx) =>
          tx
            .updateTable('store_time')
            .set({ elapsed: 365 * 86_400_000 })
            .execute(),
        )
        await idempotency.age()
      }

      it('does not carry out a request again whose key that version deleted while its transaction is in the journal', async () => {
        const before = await place().open()
        const lease = await giveLease(before)
        const [made, unsigned] = [newEntry({ idempotencyKey: 'made' }), newEntry({ idempotencyKey: 'unsigned' })]
        await sqlJournal(before).open([made, unsigned], lease)
        await sqlJournal(before).write([signed(made)], lease)
        await reopen(before)
        const error = await errorOf('made')
        expect(error).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
        expect(error).to.have.property('message').that.contains('GET /transactions').and.contains('Nothing was done now')
        // Nothing was ever signed under the other one.
        expect(await errorOf('unsigned')).to.have.property('message', 'It was done again.')
        // When the transaction leaves the journal, its key stays.
        await store.write((tx) => tx.deleteFrom('entries').execute())
        expect(await errorOf('made')).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
      })

      it('keeps the answers that are there, and forgets the keys of failed requests', async () => {
        const before = await place().open()
        const lease = await giveLease(before)
        const [answered, failed] = [await giveKey(before, 'answered'), await giveKey(before, 'failed')]
        const entry = newEntry({ idempotencyKey: 'answered' })
        await sqlJournal(before).open([entry], lease, answered)
        await sqlJournal(before).write([signed(entry)], lease, { claim: answered, status: 200, body: 'signed' })
        await before.write((tx) =>
          tx.updateTable('requests').set({ server: '', request_id: 'none' }).where('key', '=', failed.key).execute(),
        )
        await reopen(before)
        const keys = await store.read((db) => db.selectFrom('requests').select(['key', 'body']).execute())
        expect(keys).to.deep.equal([{ key: 'answered', body: 'signed' }])
      })
    })

    it('counts what was final from then on, so that it is not archived too early', async () => {
      const before = await place().open()
      const [lease, journal] = [await giveLease(before), sqlJournal(before)]
      const entries = [newEntry(), newEntry()]
      await journal.open(entries, lease)
      for (const entry of entries) {
        const written = signed(entry)
        await journal.write([written], lease)
        if (entry === entries[0]) await journal.write([next(written, { state: 'DROPPED' })], lease)
      }
      const pass = (store: Store, days: number) =>
        store.write((tx) =>
          tx
            .updateTable('store_time')
            .set((eb) => ({ elapsed: eb('elapsed', '+', days * 86_400_000) }))
            .execute(),
        )
      await pass(before, 400)
      await undoArchive(before)
      await before.close()

      const after = await place().open()
      const { ended } = sqlJournal(after)
      const old = async () => (await ended.select({ olderThanMs: 90 * 86_400_000, limit: 10 })).map(({ key }) => key)
      expect(await old()).to.deep.equal([])
      await pass(after, 90)
      expect(await old()).to.deep.equal([entries[0]?.key])
    })

    it('calls what lost its nonce to the transaction that it was to replace by its own name', async () => {
      const before = await place().open()
      const [lease, journal] = [await giveLease(before), sqlJournal(before)]
      const ends = async (over: Partial<Entry>, end: Partial<Entry>) => {
        const entry = newEntry(over)
        await journal.open([entry], lease)
        const written = signed(entry)
        await journal.write([written], lease)
        await journal.write([next(written, end)], lease)
        return entry.key
      }
      const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null }
      const reason = 'The transaction that it was to replace was mined: 0x1. ä \ud800 \u0000'
      const mined = await ends({ nonce: 7 }, { state: 'CONFIRMED', landed })
      const cancel = await ends({ nonce: 7, rank: 1, kind: 'cancel' }, { state: 'DROPPED', reason })
      const foreign = await ends({ nonce: 8 }, { state: 'DROPPED', reason: 'Another transaction took its place.' })
      const both = await ends({ nonce: 8, rank: 1, kind: 'cancel' }, { state: 'DROPPED', reason: 'Another transaction took its place.' })
      const lastEvent = await journal.lastEventId()
      await undoAges(before)
      await before.close()

      const after = sqlJournal(await place().open())
      const { entries } = await after.list({})
      expect(entries.map(({ key, state }) => [key, state])).to.have.deep.members([
        [mined, 'CONFIRMED'],
        [cancel, 'OVERTAKEN'],
        [foreign, 'DROPPED'],
        [both, 'DROPPED'],
      ])
      expect((await after.list({ state: 'OVERTAKEN' })).entries.map((entry) => entry.reason)).to.deep.equal([reason])
      expect(await after.lastEventId()).to.equal(lastEvent)
    })
  })
})
