import { expect } from 'chai'
import { forgetDevnet } from '../../core/devnet/start-devnet.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { routeRequest, newEntries } from '../../core/transactions/submit-request.ts'
import { giveKey } from '../transactions/journal/entries.ts'
import { addressOf, freshStore, order, startSite } from '../transactions/site.ts'

describe('a new devnet', () => {
  it('keeps a key of another network that is only in the archive, and frees its own', async () => {
    const store = await freshStore()
    try {
      for (const key of ['both', 'devnet alone']) await giveKey(store, key)
      const archived = { chain: 'ethereum', address: '0x1', body: new Uint8Array(), client: 'client', kind: 'trade' }
      const rows = [
        { ...archived, key: '1', network: 'local', request_id: 'a', idempotency_key: 'both' },
        { ...archived, key: '2', network: 'sepolia', request_id: 'b', idempotency_key: 'both' },
        { ...archived, key: '3', network: 'local', request_id: 'c', idempotency_key: 'devnet alone' },
      ]
      await store.write((tx) => tx.insertInto('archived').values(rows).execute())
      await forgetDevnet(store)
      const keys = await store.read((db) => db.selectFrom('requests').select('key').execute())
      expect(keys).to.deep.equal([{ key: 'both' }])
      expect(await store.read((db) => db.selectFrom('archived').select('key').execute())).to.deep.equal([{ key: '2' }])
    } finally {
      await store.close()
    }
  })

  it('reads the age of its markets anew, and keeps that of other networks', async () => {
    const store = await freshStore()
    try {
      const owners = ['market ethereum/local', 'market ethereum/sepolia', 'client bot']
      await store.write((tx) =>
        tx
          .insertInto('budgets')
          .values(owners.map((owner) => ({ owner, body: '' })))
          .execute(),
      )
      await forgetDevnet(store)
      const rows = await store.read((db) => db.selectFrom('budgets').select('owner').orderBy('owner').execute())
      expect(rows.map(({ owner }) => owner)).to.deep.equal(['client bot', 'market ethereum/sepolia'])
    } finally {
      await store.close()
    }
  })

  it('removes the journal of the earlier devnet, and keeps that of other networks', async () => {
    const [store, site] = [await freshStore(), await startSite()]
    try {
      const journal = sqlJournal(store)
      for (const key of ['batch on local', 'batch on sepolia']) await giveKey(store, key)
      for (const network of ['local', 'sepolia']) {
        const guard = { queue: `ethereum/${network}/0x1`, fencingToken: 1 }
        await store.write((tx) =>
          tx.insertInto('lanes').values({ lane: guard.queue, fence: guard.fencingToken, server: 'a', wanted_by: null }).execute(),
        )
        const places = { sequences: [0], chosenByCaller: [false], nonces: [0], ranks: [0], nowMs: 1 }
        const on = { network: { chain: 'ethereum', network, impl: site.chain }, kind: 'order' as const, venue: { connector: 'book' } }
        const requestId = `request on ${network}`
        const [entry] = newEntries(routeRequest(order(site, { ...on, requestId })), places)
        const isOfRequest = { request_id: requestId }
        await store.write((tx) => tx.updateTable('requests').set(isOfRequest).where('key', '=', `batch on ${network}`).execute())
        if (!entry) throw new Error('An order makes an entry.')
        await journal.open([entry], guard, undefined, [{ clientOrderId: 'a', type: 'CLOB', market: 'A-B', index: 0, about: null }])
        const attempts = [{ id: '0xabc', raw: new Uint8Array(), fees: null, signedAt: 1, sends: 0 }]
        await journal.write([{ ...entry, version: 2, state: 'SIGNED', attempts }], guard)
      }
      await forgetDevnet(store)
      expect((await journal.list({})).entries.map(({ network }) => network)).to.deep.equal(['sepolia'])
      expect(await journal.find('ethereum', 'local', '0xabc')).to.equal(undefined)
      const keys = await store.read((db) => db.selectFrom('requests').select('key').execute())
      expect(keys).to.deep.equal([{ key: 'batch on sepolia' }])
      const taken = (network: string) =>
        journal.orders.firstUsed({ chain: 'ethereum', network, connector: 'book', address: addressOf(0) }, ['a'])
      expect([await taken('local'), await taken('sepolia')]).to.deep.equal([undefined, 'a'])
      expect(await journal.find('ethereum', 'sepolia', '0xabc')).to.include({ network: 'sepolia' })
    } finally {
      await site.stop()
      await store.close()
    }
  })
})
