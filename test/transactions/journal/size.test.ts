import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import { entryRow } from '../../../core/transactions/journal/entry-rows.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { silent } from '../site.ts'
import { grownTrade, growJournal, journalTrades } from './grown-journal.ts'

describe('a million trades', () => {
  let dataDir: string
  let store: Store
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    store = await openStore({ dataDir, serverName: 'test', log: silent })
    // Nothing here is about what a power cut leaves.
    await store.read((db) => sql`pragma synchronous = off`.execute(db))
  })
  afterEach(async () => {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  const bytes = async () => {
    const { rows } = await store.read((db) => sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat`.execute(db))
    return rows[0]?.bytes ?? 0
  }

  it('take at most 5 kB each in the embedded store: two hops, one attempt, five events, an answer, what it was and cost, and all indexes', async () => {
    const before = await bytes()
    await journalTrades(store, 250)
    expect((await bytes()) - before).to.be.at.most(250 * 5_000)
  })

  it('keep outcome, block and receipt, and no signed bytes', async () => {
    await journalTrades(store, 1)
    const final = grownTrade(0).versions.at(-1)
    const { entries } = await sqlJournal(store).list({})
    const [entry] = entries
    expect(entry).to.deep.include({ memo: final?.memo, about: final?.about, landed: final?.landed, state: 'CONFIRMED', step: null })
    expect(entry?.attempts).to.deep.equal(final?.attempts.map((each) => ({ ...each, raw: new Uint8Array() })))
  })

  it('are listed as callers are shown them without calls, memo, about and receipt, and with a receipt that alone tells the cost', async () => {
    await journalTrades(store, 2)
    const journal = sqlJournal(store)
    const { entries } = await journal.list({})
    const shown = entries.map((entry) => ({
      ...entry,
      memo: null,
      about: null,
      ...(entry.landed && { landed: { ...entry.landed, receipt: null } }),
    }))
    expect((await journal.list({ shownOnly: true })).entries).to.deep.equal(shown)

    const [newest] = entries
    if (!newest?.landed) throw new Error('A trade is in a block.')
    const { cost: _cost, ...landed } = newest.landed
    const { body } = entryRow({ ...newest, landed }, '')
    await store.write((tx) => tx.updateTable('entries').set({ body }).where('key', '=', newest.key).execute())
    const [withReceipt] = (await journal.list({ shownOnly: true })).entries
    expect(withReceipt?.landed).to.deep.equal(landed)
  })

  it('that were written many at a time are as those that a server journaled', async () => {
    await journalTrades(store, 3)
    await growJournal(store, 3, { from: 3 })
    const journal = sqlJournal(store)
    const { entries } = await journal.list({})
    const shapeOf = (of: object) => Object.keys(of).toSorted((a, b) => (a < b ? -1 : 1))
    expect(entries).to.have.length(6)
    expect(new Set(entries.map((entry) => shapeOf(entry).join()))).to.have.property('size', 1)
    const events = await journal.eventsAfter(0, { limit: 100 })
    const states = ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED', 'CONFIRMED']
    expect(events.map(({ entry }) => entry.state)).to.deep.equal(Array.from({ length: 6 }, () => states).flat())
    const answers = await store.read((db) => db.selectFrom('requests').select(['status', 'server', 'tag', 'ages_from']).execute())
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).to.equal(1)
  })
})
