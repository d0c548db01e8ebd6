import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openStore } from '../../../core/store/open-store.ts'
import { unpack } from '../../../core/store/compact.ts'
import type { Store } from '../../../core/store/store.ts'
import { createIdempotency } from '../../../core/transactions/idempotency.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Sign } from '../../../core/transactions/submit-request.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { addressOf, order, sign, silent, soon, startSite, transactionsOn, until, type TestSite } from '../site.ts'
import { giveLease } from './entries.ts'
import { grownTrade, journalTrades } from './grown-journal.ts'
import { named, ordersOf, placing, signTyped, startVenue, type VenueSite } from '../venue/venue-site.ts'

const fixture = new URL('../../fixtures/journal-8ee716f/sluice.db.gz', import.meta.url)
const packed = new URL('../../fixtures/journal-671d55a4/sluice.db.gz', import.meta.url)
const signBoth: Sign = (request) => (request.signable.scheme === 'typed-data' ? signTyped(request) : sign(request))

describe('a journal that version 0.1.0 (8ee716f) left with open transactions', () => {
  let dataDir: string
  let site: TestSite
  let venue: VenueSite
  let store: Store
  let transactions: Transactions

  before(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    await writeFile(path.join(dataDir, 'sluice.db'), gunzipSync(await readFile(fixture)))
    ;[site, venue, store] = await Promise.all([
      startSite({ confirmations: 3 }),
      startVenue({ livesMs: 20 * 365 * 86_400_000 }),
      openStore({ dataDir, serverName: 'test', log: silent }),
    ])
    transactions = await transactionsOn({ store, sites: [site.network, venue.site], sign: signBoth })
  })
  after(async () => {
    await transactions?.stop(1_000)
    await Promise.all([site?.stop(), venue?.stop(), store?.close()])
    await rm(dataDir, { recursive: true, force: true })
  })

  it('is opened, and every transaction in it reaches its end', async () => {
    let ends: Record<string, string> = {}
    await until('everything is final', async () => {
      await site.mine()
      const { entries } = await transactions.list({ limit: 500 })
      ends = Object.fromEntries(entries.map(({ requestId, part, state }) => [`${requestId}/${part.index}`, state]))
      return entries.every(({ state }) => !['QUEUED', 'SIGNED', 'BROADCAST', 'MINED'].includes(state))
    })
    expect(ends).to.deep.equal({
      'request-1/0': 'CONFIRMED',
      'request-2/0': 'CANCELLED',
      'request-2-cancel/0': 'CONFIRMED',
      'request-3/0': 'CONFIRMED',
      'request-4/0': 'CONFIRMED',
      'request-4/1': 'CONFIRMED',
      'request-5/0': 'CONFIRMED',
      'request-6/0': 'CONFIRMED',
      'request-7/0': 'CONFIRMED',
      'request-8/0': 'EXPIRED',
      'request-8-order/0': 'EXPIRED',
      'request-action/0': 'CONFIRMED',
    })
    const landed = await site.rpc('eth_getTransactionCount', addressOf(7), 'latest')
    expect(landed).to.equal('0x1')
    expect(venue.exchange.done).to.have.length(1)
  })

  it('still gives the answer that is recorded under an Idempotency-Key', async () => {
    const idempotency = createIdempotency({ store, serverId: randomUUID(), log: silent })
    // A year in which a server runs.
    await store.write((tx) =>
      tx
        .updateTable('store_time')
        .set({ elapsed: 365 * 86_400_000 })
        .execute(),
    )
    await idempotency.age()
    const answer = await idempotency.once({
      key: { client: 'bot', path: '/trade', key: 'key-7' },
      request: { amount: '1' },
      requestId: 'again',
      act: () => Promise.reject(new Error('Nothing is done a second time.')),
    })
    idempotency.stop()
    const { entries } = await transactions.list({ requestId: 'request-7' })
    expect(JSON.parse(answer.body)).to.deep.equal({ txHash: entries[0]?.attempts[0]?.id, nonce: 0 })
  })

  it('keeps the client order ids: used ones are refused, one that was never signed is free', async () => {
    const shop = { chain: 'ethereum', network: 'local', connector: 'shop', limit: 10 }
    expect((await transactions.orders.list({ ...shop, address: addressOf(6) })).map(({ clientOrderId }) => clientOrderId)).to.deep.equal([
      'mine',
    ])
    expect(await ordersOf(transactions, { clientOrderId: 'action' })).to.have.length(1)
    const again = await transactions.submit(placing(venue, { clientOrders: [named('action')] }), soon()).catch((error: unknown) => error)
    expect(again).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
    const free = order(site, { address: addressOf(8), kind: 'order', venue: { connector: 'shop' }, clientOrders: [named('never')] })
    expect(await transactions.submit(free, soon())).to.include({ nonce: 0 })
  })
})

describe('a journal that was packed with the first dictionary', () => {
  let dataDir: string
  let store: Store
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    await writeFile(path.join(dataDir, 'sluice.db'), gunzipSync(await readFile(packed)))
    store = await openStore({ dataDir, serverName: 'test', log: silent })
  })
  afterEach(async () => {
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('is read as it was written: outcomes, events and answers', async () => {
    const journal = sqlJournal(store)
    const { entries } = await journal.list({})
    const trades = [3, 2, 1, 0].map((index) => grownTrade(index, 2))
    const outcomes = trades.map(({ versions }, index) => versions[index === 0 ? 2 : 4])
    expect(entries.map(({ memo, about, landed, nonce, state }) => ({ memo, about, landed, nonce, state }))).to.deep.equal(
      outcomes.map((each) => ({ memo: each?.memo, about: each?.about, landed: each?.landed, nonce: each?.nonce, state: each?.state })),
    )
    expect(entries[0]?.attempts).to.deep.equal(outcomes[0]?.attempts)
    const events = await journal.eventsAfter(0, { limit: 100 })
    const states = ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED', 'CONFIRMED']
    expect(events.map(({ entry }) => entry.state)).to.deep.equal([...states, ...states, ...states, ...states.slice(0, 3)])
    const answers = await store.read((db) => db.selectFrom('requests').select('body').execute())
    expect(answers.map(({ body }) => unpack(body ?? Buffer.of()))).to.have.members(trades.slice(1).map(({ answer }) => answer))
  })

  it('goes on: an open transaction reaches its end, and newer ones come first', async () => {
    const journal = sqlJournal(store)
    const { versions, queue } = grownTrade(3, 2)
    const open = (await journal.list({})).entries[0]
    const end = versions.slice(3).map((each) => ({ ...each, key: open?.key ?? '' }))
    const lease = await giveLease(store, { queue, fencingToken: 1 })
    for (const each of end) expect(await journal.write([each], lease)).to.equal(true)
    expect((await journal.list({ state: 'CONFIRMED' })).entries).to.have.length(4)
    await journalTrades(store, 1, { from: 4, wallets: 2 })
    const keys = (await journal.list({})).entries.map(({ key }) => key)
    expect(keys.map(({ length }) => length)).to.deep.equal([17, 27, 27, 27, 27])
    expect(keys).to.deep.equal(keys.toSorted((a, b) => (a < b ? 1 : -1)))
  })
})
