import { expect } from 'chai'
import { pack, unpack } from '../../../core/store/compact.ts'
import type { Store } from '../../../core/store/store.ts'
import { transactionKinds as kinds } from '../../../core/api/transactions.ts'
import type { Lease, Journal } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { onBothStores } from '../../store/stores.ts'
import { attempt, giveKey, giveLease, queueOf, newEntry, next, signed, wallet } from './entries.ts'

const nameOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.constructor.name : 'unknown'),
  )

describe('the journal in a database', () => {
  onBothStores((place) => {
    let store: Store
    let journal: Journal
    let lease: Lease
    beforeEach(async () => {
      store = await place().open()
      journal = sqlJournal(store)
      lease = await giveLease(store)
    })

    it('returns what was written, to the byte, after a restart, too', async () => {
      const queued = newEntry({
        deadline: 1_800_000_000,
        idempotencyKey: 'k',
        memo: { a: ['ä', '\u0000', 1.5] },
        reason: 'zero \u0000 \ud800',
      })
      const later = next(signed(queued), {
        landed: { id: '0x1', ok: false, blockNumber: 7, receipt: { logs: [] } },
        replacedBy: '0x2',
        seen: 'lost',
      })
      await journal.open([queued], lease)
      expect(await journal.read(queued.key)).to.deep.equal(queued)
      expect(await journal.write([signed(queued)], lease)).to.equal(true)
      expect(await journal.write([later], lease)).to.equal(true)
      await store.close()

      const reopened = sqlJournal(await place().open())
      expect(await reopened.read(queued.key)).to.deep.equal(later)
      expect((await reopened.read(queued.key))?.attempts[0]?.raw).to.be.instanceOf(Uint8Array)
      expect(await reopened.read('nobody')).to.equal(undefined)
    })

    it('returns transactions of every kind', async () => {
      const entries = kinds.map((kind) => newEntry({ kind }))
      await journal.open(entries, lease)
      for (const entry of entries) expect(await journal.read(entry.key)).to.deep.equal(entry)
    })

    it('finds a transaction by any hash that was ever signed for it, in any letter case', async () => {
      const queued = newEntry()
      const first = next(queued, { state: 'SIGNED', attempts: [attempt('0xAA')] })
      const second = next(first, { attempts: [attempt('0xAA'), attempt('0xBB')] })
      await journal.open([queued], lease)
      await journal.write([first], lease)
      await journal.write([second], lease)
      for (const hash of ['0xaa', '0xAA', '0xbb']) expect((await journal.find('ethereum', 'local', hash))?.key).to.equal(queued.key)
      expect(await journal.find('ethereum', 'mainnet', '0xaa')).to.equal(undefined)
    })

    it('refuses a server that lost its lease, and writes nothing', async () => {
      const [one, two] = [newEntry(), newEntry()]
      await journal.open([one], lease)
      await giveLease(store, { queue: lease.queue, fencingToken: 2 })
      expect(await nameOf(journal.open([two], lease))).to.equal('OwnershipLostError')
      expect(await nameOf(journal.write([signed(one)], lease))).to.equal('OwnershipLostError')
      expect(await nameOf(journal.open([two], { queue: queueOf('0xother'), fencingToken: 1 }))).to.equal('OwnershipLostError')
      expect((await journal.list({})).entries).to.deep.equal([one])
      expect(await journal.find('ethereum', 'local', `0xhash${one.key}`)).to.equal(undefined)
      expect(await journal.eventsAfter(0, { limit: 10 })).to.have.length(1)
    })

    it('refuses a call that lost its key, and writes neither entries nor answer', async () => {
      const claim = await giveKey(store, 'k')
      const [one, two] = [newEntry(), newEntry()]
      await journal.open([one], lease, claim)
      await giveKey(store, 'k', 2)
      expect(await nameOf(journal.open([two], lease, claim))).to.equal('OwnershipLostError')
      expect(await nameOf(journal.write([signed(one)], lease, { claim, status: 200, body: '{}' }))).to.equal('OwnershipLostError')
      expect((await journal.list({})).entries).to.deep.equal([one])
      expect(await store.read((db) => db.selectFrom('requests').select(['status', 'body']).execute())).to.deep.equal([
        { status: null, body: null },
      ])
    })

    it('writes the answer together with the signed bytes', async () => {
      const claim = await giveKey(store, 'k')
      await giveKey(store, 'another')
      const one = newEntry()
      await journal.open([one], lease, claim)
      expect(await journal.write([signed(one)], lease, { claim, status: 200, body: '{"txHash":"0x1"}' })).to.equal(true)
      const rows = await store.read((db) => db.selectFrom('requests').select(['key', 'status', 'body']).orderBy('key').execute())
      expect(rows.map(({ body, ...row }) => ({ ...row, body: body && unpack(body) }))).to.deep.equal([
        { key: 'another', status: null, body: null },
        { key: 'k', status: 200, body: '{"txHash":"0x1"}' },
      ])
    })

    it('writes all entries or none: nothing if one has an old version', async () => {
      const claim = await giveKey(store, 'k')
      const [one, two] = [newEntry(), newEntry()]
      await journal.open([one, two], lease, claim)
      await journal.write([signed(two)], lease)
      expect(await journal.write([signed(one), signed(two)], lease, { claim, status: 200, body: '{}' })).to.equal(false)
      expect(await journal.write([next(signed(one), {})], lease)).to.equal(false)
      expect(await journal.write([signed(newEntry())], lease)).to.equal(false)
      expect(await journal.read(one.key)).to.deep.equal(one)
      expect(await journal.find('ethereum', 'local', `0xhash${one.key}`)).to.equal(undefined)
      expect((await store.read((db) => db.selectFrom('requests').select('status').executeTakeFirst()))?.status).to.equal(null)
      expect(await journal.eventsAfter(0, { limit: 10 })).to.have.length(3)
    })

    it('refuses to open a key twice, or to record one hash for two entries', async () => {
      const [one, two] = [newEntry(), newEntry()]
      await journal.open([one, two], lease)
      expect(await nameOf(journal.open([newEntry(), one], lease))).to.not.equal('no error')
      await journal.write([signed(one, '0xAB')], lease)
      expect(await nameOf(journal.write([signed(two, '0xab')], lease))).to.not.equal('no error')
      expect((await journal.read(two.key))?.state).to.equal('QUEUED')
      expect((await journal.list({})).entries).to.have.length(2)
    })

    it('returns unfinished entries by wallet and by queue', async () => {
      const other = '0xBBcd000000000000000000000000000000000002'
      const there = await giveLease(store, { queue: queueOf(other), fencingToken: 1 })
      const [one, two, three] = [newEntry(), newEntry(), newEntry({ address: other })]
      await journal.open([one, two], lease)
      await journal.open([three], there)
      await journal.write([next(one, { state: 'EXPIRED' })], lease)
      expect(await journal.unfinished({ chain: 'ethereum', network: 'local' })).to.deep.equal([two, three])
      expect(await journal.unfinished({ chain: 'ethereum', network: 'local', address: other.toLowerCase() })).to.deep.equal([three])
      expect(await journal.unfinished({ chain: 'ethereum', network: 'mainnet' })).to.deep.equal([])
      expect(await journal.openQueues()).to.have.deep.members([
        { chain: 'ethereum', network: 'local', address: wallet },
        { chain: 'ethereum', network: 'local', address: other },
      ])
    })

    it('lists newest first, by every filter, in pages', async () => {
      const entries = Array.from({ length: 7 }, (_, index) => newEntry({ idempotencyKey: `k${index}` }))
      for (const each of entries) await journal.open([each], lease)
      const [first, second] = entries
      if (!first || !second) throw new Error('none')
      await journal.write([signed(first, '0xAA')], lease)
      await journal.write([next(second, { state: 'EXPIRED' })], lease)
      const keys = async (filter: Parameters<Journal['list']>[0]) => (await journal.list(filter)).entries.map(({ key }) => key)
      const all = entries.map(({ key }) => key).toReversed()

      expect(await keys({})).to.deep.equal(all)
      expect(await keys({ chain: 'ethereum', network: 'local', address: wallet.toUpperCase() })).to.deep.equal(all)
      expect(await keys({ addresses: new Set([wallet.toLowerCase(), '0x1']) })).to.deep.equal(all)
      expect(await keys({ addresses: new Set() })).to.deep.equal([])
      expect(await keys({ addresses: new Set(['0x1']) })).to.deep.equal([])
      expect(await keys({ state: 'SIGNED' })).to.deep.equal([first.key])
      expect(await keys({ state: 'EXPIRED' })).to.deep.equal([second.key])
      expect(await keys({ txHash: '0xaa' })).to.deep.equal([first.key])
      expect(await keys({ idempotencyKey: 'k1' })).to.deep.equal([second.key])
      expect(await keys({ requestId: first.requestId })).to.deep.equal([first.key])
      expect(await keys({ nonce: second.nonce })).to.deep.equal([second.key])
      expect(await keys({ network: 'mainnet' })).to.deep.equal([])

      const paged: string[] = []
      let cursor: string | undefined
      do {
        const page = await journal.list({ limit: 3, ...(cursor !== undefined && { cursor }) })
        paged.push(...page.entries.map(({ key }) => key))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(paged).to.deep.equal(all)
    })

    it('has an event for each change that callers see, once and in order, and no others', async () => {
      const one = newEntry()
      const other = newEntry({ address: '0xBBcd000000000000000000000000000000000002' })
      await journal.open([one], lease)
      await journal.open([other], await giveLease(store, { queue: queueOf(other.address), fencingToken: 1 }))
      const sent = next(signed(one), { attempts: [attempt('0x1', { sends: 1, sentAt: 5 })] })
      const again = next(sent, { attempts: [attempt('0x1', { sends: 2, sentAt: 9 })], seen: 'pays' })
      const mined = next(again, { state: 'MINED', landed: { id: '0x1', ok: true, blockNumber: 9, receipt: null } })
      const moved = next(mined, { landed: { id: '0x1', ok: true, blockNumber: 10, receipt: null } })
      for (const each of [next(one, { state: 'SIGNED', attempts: [attempt('0x1')] }), sent, again, mined, moved])
        expect(await journal.write([each], lease)).to.equal(true)

      const events = await journal.eventsAfter(0, { limit: 100 })
      expect(events.map(({ entry }) => [entry.state, entry.landed?.blockNumber])).to.deep.equal([
        ['QUEUED', undefined],
        ['QUEUED', undefined],
        ['SIGNED', undefined],
        ['MINED', 9],
        ['MINED', 10],
      ])
      expect(events.map(({ id }) => id)).to.deep.equal(events.map(({ id }) => id).toSorted((a, b) => a - b))
      expect(await journal.lastEventId()).to.equal(events.at(-1)?.id)
      const third = events[2]?.id ?? 0
      expect((await journal.eventsAfter(third, { limit: 1 })).map(({ entry }) => entry.landed?.blockNumber)).to.deep.equal([9])
      expect(await journal.eventsAfter(0, { limit: 9, addresses: new Set([other.address.toLowerCase()]) })).to.have.length(1)
      expect(await journal.eventsAfter(0, { limit: 9, addresses: new Set() })).to.deep.equal([])
      expect(await journal.eventsAfter(0, { limit: 9, network: 'mainnet' })).to.deep.equal([])
      expect(events.every(({ entry }) => entry.attempts.every(({ raw }) => raw.length === 0))).to.equal(true)
    })

    it('has no event in an empty journal', async () => {
      expect(await journal.lastEventId()).to.equal(0)
      expect(await journal.eventsAfter(0, { limit: 9 })).to.deep.equal([])
    })

    it('names a damaged row, and lists the others', async () => {
      const told: unknown[] = []
      const careful = sqlJournal(store, { warn: (fields) => told.push(fields) })
      const [one, two] = [newEntry(), newEntry()]
      await journal.open([one, two], lease)
      await store.write((tx) =>
        tx
          .updateTable('entries')
          .set({ body: pack('{"key":1}') })
          .where('key', '=', one.key)
          .execute(),
      )
      expect((await careful.list({})).entries).to.deep.equal([two])
      expect(JSON.stringify(told)).to.contain(one.key)
      expect(await careful.read(one.key).catch((error: Error) => error.message)).to.contain(one.key)
      expect(await careful.unfinished({ chain: 'ethereum', network: 'local' }).catch((error: Error) => error.message)).to.contain(one.key)
      // The wallets beside it are taken up all the same.
      expect(await careful.openQueues()).to.deep.equal([{ chain: 'ethereum', network: 'local', address: wallet }])
    })
  })
})
