import { expect } from 'chai'
import { sql } from 'kysely'
import Database from 'libsql'
import path from 'node:path'
import { Client } from 'pg'
import { unpack } from '../../core/store/compact.ts'
import type { Store } from '../../core/store/store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { createIdempotency, type Idempotency } from '../../core/transactions/idempotency.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { giveKey, giveLease, newEntry, next, signed, wallet } from '../transactions/journal/entries.ts'
import { bodyBefore, undoCompact } from './before-compact.ts'
import { onBothStores, places, type StorePlace } from './stores.ts'

/** As it was before entries were archived. */
async function undoArchive(store: Store): Promise<void> {
  await undoCompact(store)
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
        expect(keys.map(({ key, body }) => [key, body && unpack(body)])).to.deep.equal([['answered', 'signed']])
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

    describe('with rows of text', () => {
      let before: Store
      let open: Entry
      let final: Entry
      beforeEach(async () => {
        before = await place().open()
        ;({ open, final } = await writeText(before))
      })

      it('packs them: open ones keep their bytes, final ones their outcome, and answers and events stay', async () => {
        await sql`insert into events (entry_key, chain, network, address, at, body)
          values (${open.key}, 'ethereum', 'local', '', 0, 'damaged')`.execute(await before.read(async (db) => db))
        await before.close()
        const store = await place().open()
        const journal = sqlJournal(store)
        expect(await journal.read(open.key)).to.deep.equal(open)
        expect(await journal.read(final.key)).to.deep.equal({
          ...final,
          step: null,
          attempts: final.attempts.map((each) => ({ ...each, raw: new Uint8Array() })),
        })
        expect((await journal.find('ethereum', 'local', open.attempts[0]?.id ?? ''))?.key).to.equal(open.key)
        const [request] = await store.read((db) => db.selectFrom('requests').select('body').execute())
        expect(unpack(request?.body ?? Buffer.of())).to.equal('{"txHash":"0xhash"}')
        const events = await journal.eventsAfter(0, { limit: 10 })
        expect(events.map(({ entry }) => entry.state)).to.deep.equal(['QUEUED', 'QUEUED', 'SIGNED', 'SIGNED'])
        const last = await journal.lastEventId()
        await journal.open([newEntry()], await giveLease(store))
        expect(await journal.lastEventId()).to.equal(last + 1)
      })

      it('are all there when that was interrupted, and are packed at the next start', async () => {
        const rows = await before.read((db) => sql`select * from entries order by key`.execute(db))
        await before.write((tx) => sql`create table events_new (id bigint)`.execute(tx))
        await before.close()
        expect(
          await place()
            .open()
            .catch((error: Error) => error.message),
        ).to.match(/events_new/)
        await outside(place(), async (run) => {
          expect(await run('select * from entries order by key')).to.have.length(rows.rows.length)
          expect(await run("select name from kysely_migration where name like '008%'")).to.deep.equal([])
          await run('drop table events_new')
        })
        expect(await sqlJournal(await place().open()).read(open.key)).to.deep.equal(open)
      })

      it('leaves a damaged entry to whoever reads it', async () => {
        await before.write((tx) => sql`update entries set body = 'nothing' where key = ${final.key}`.execute(tx))
        await before.close()
        const journal = sqlJournal(await place().open())
        expect((await journal.list({})).entries).to.deep.equal([open])
        expect(await journal.read(final.key).catch((error: Error) => error.message)).to.contain(final.key)
      })
    })
  })
})

describe('a store of an older version that a server still runs on', () => {
  const { place } = places('postgres')

  it('is not touched, and the refusal names the server', async () => {
    const before = await place().open()
    const { open } = await writeText(before)
    const now = sql`extract(epoch from clock_timestamp()) * 1000`
    await before.write((tx) => sql`insert into servers values ('old', 'the old one on host 7', ${now} + 9500)`.execute(tx))
    const refused = await place()
      .open()
      .catch((error: Error) => error.message)
    expect(refused).to.match(/server of an earlier version still runs on it: the old one on host 7. Stop every server/)
    const { rows } = await before.read((db) => sql`select name from kysely_migration where name like '008%'`.execute(db))
    expect(rows).to.deep.equal([])
    await before.write((tx) => sql`update servers set alive_until = 0`.execute(tx))
    expect(await sqlJournal(await place().open()).read(open.key)).to.deep.equal(open)
    // What comes back to life now finds that it cannot register, so it owns nothing.
    const registers = before.write((tx) => sql`insert into servers (id, name, alive_until) values ('old', '', 1)`.execute(tx))
    expect(await registers.catch((error: Error) => error.message)).to.match(/null value in column "migration"/)
  })
})

/** An open and a final transaction, and an answer, in rows of text as the older version wrote them. */
async function writeText(store: Store): Promise<{ open: Entry; final: Entry }> {
  const [lease, claim, journal] = [await giveLease(store), await giveKey(store, 'k'), sqlJournal(store)]
  const [one, two] = [newEntry({ idempotencyKey: 'k' }), newEntry()]
  await journal.open([one], lease, claim)
  await journal.open([two], lease)
  const open = signed(one)
  await journal.write([open], lease, { claim, status: 200, body: '{"txHash":"0xhash"}' })
  const sent = signed(two)
  await journal.write([sent], lease)
  const landed = { id: sent.attempts[0]?.id ?? '', ok: true, blockNumber: 7, receipt: { logs: ['0x00'] } }
  const final = next(sent, { state: 'CONFIRMED', landed })
  await undoCompact(store)
  // With bytes and calls, whatever the state.
  await store.write((tx) =>
    sql`update entries set state = 'CONFIRMED', final = 1, version = ${final.version}, body = ${bodyBefore(final)}
      where key = ${final.key}`.execute(tx),
  )
  return { open, final }
}

/** Runs SQL where no store is open. */
async function outside({ options: { dataDir, url } }: StorePlace, work: (run: (text: string) => Promise<unknown>) => Promise<void>) {
  if (url === undefined) {
    const db = new Database(path.join(dataDir, 'sluice.db'))
    await work(async (text) => (text.startsWith('select') ? db.prepare(text).all([]) : db.exec(text)))
    db.close()
    return
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  await work(async (text) => (await client.query(text)).rows)
  await client.end()
}
