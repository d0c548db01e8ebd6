import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Store } from '../../../core/store/store.ts'
import { createTransactions, type Transactions } from '../../../core/transactions/transactions.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { sqlLeases } from '../../../core/transactions/leases.ts'
import { type Sign } from '../../../core/transactions/submit-request.ts'
import { onBothStores } from '../../store/stores.ts'
import { addressOf, freshStore, order, reaches, rejection, sign, silent, soon, startSite, stateOf, transactionsOn } from '../site.ts'
import { away, bringsBytes, faultyJournal, type Faults } from '../submit/faulty-journal.ts'
import { named, ordersOf, placing, settled, signTyped, startVenue, type VenueSite } from './venue-site.ts'

describe('signed actions that a server left', () => {
  onBothStores((place) => {
    let venue: VenueSite
    const running: Transactions[] = []

    beforeEach(async () => {
      venue = await startVenue({ livesMs: 20_000, marginMs: 1_000 })
    })
    afterEach(async () => {
      for (const each of running.splice(0)) await each.stop(200)
      await venue.stop()
    })

    /** A server: in PostgreSQL others may run beside it. */
    async function start(store: Store, faults: Faults = {}): Promise<Transactions> {
      const leases = sqlLeases({ store, serverId: randomUUID(), serverName: 'test', log: silent })
      const journal = faultyJournal(sqlJournal(store), faults)
      const server = createTransactions({ journal, leases, targets: [venue.site], sign: signTyped, walletQueue: 256, log: silent })
      running.push(server)
      await server.recovered
      return server
    }
    async function end(server: Transactions): Promise<void> {
      running.splice(running.indexOf(server), 1)
      await server.stop(0)
    }

    it('that were journaled but not sent are sent by the next one, as the same bytes', async () => {
      const store = await place().open()
      const first = await start(store)
      venue.exchange.meddle = () => 'cut'
      const { txHash, nonce } = await first.submit(placing(venue, { clientOrders: [named('a')] }), soon())
      await end(first)
      const second = await start(store)
      await second.submit(placing(venue), soon())
      expect(venue.held()).to.deep.equal([nonce])
      venue.exchange.meddle = () => 'pass'
      await reaches(second, txHash, 'CONFIRMED')
      await settled(second)
      expect(venue.exchange.done).to.have.length(2)
      expect(new Set(venue.exchange.asked.map(({ signature }) => signature)).size).to.equal(2)
      expect((await rejection(second.submit(placing(venue, { clientOrders: [named('a')] }), soon()))).name).to.equal('IDEMPOTENCY_CONFLICT')
    })

    it('that the exchange has done are found, and not done again', async () => {
      const store = await place().open()
      const first = await start(store)
      venue.exchange.meddle = () => 'lose'
      const { txHash } = await first.submit(placing(venue), soon())
      await end(first)
      const second = await start(store)
      await reaches(second, txHash, 'CONFIRMED')
      expect(venue.exchange.done).to.have.length(1)
    })

    it('have nonces that the next one never assigns again, even if its clock is behind', async () => {
      const store = await place().open()
      const first = await start(store)
      venue.exchange.advance(3_600_000)
      const { nonce } = await first.submit(placing(venue), soon())
      // A caller's own says nothing of what comes next.
      await first.submit(placing(venue, { nonce: nonce + 7_200_000 }), soon())
      await end(first)
      venue.exchange.advance(-3_600_000)
      const second = await start(store)
      expect((await second.submit(placing(venue), soon())).nonce).to.equal(nonce + 1)
      expect((await second.submit(placing(venue), soon())).nonce).to.equal(nonce + 2)
      expect(venue.exchange.done).to.have.length(4)
    })

    it('that were never signed expire, and their id is free', async () => {
      const store = await place().open()
      const first = await start(store, { write: () => Promise.reject(away()) })
      expect((await rejection(first.submit(placing(venue, { clientOrders: [named('a')] }), soon()))).name).to.equal('OVERLOADED')
      expect((await ordersOf(first))[0]?.entry.state).to.equal('QUEUED')
      await end(first)
      const second = await start(store)
      await settled(second)
      expect((await ordersOf(second))[0]?.entry).to.deep.include({ state: 'EXPIRED', attempts: [] })
      expect(venue.exchange.asked).to.have.length(0)
      await second.submit(placing(venue, { clientOrders: [named('a')] }), soon())
      expect(venue.exchange.done).to.have.length(1)
    })

    it('that were never signed can be requested again at the same server at once', async () => {
      const store = await place().open()
      const faults: Faults = { write: () => Promise.reject(away()) }
      const server = await start(store, faults)
      const again = () => server.submit(placing(venue, { clientOrders: [named('a')] }), soon())
      expect((await rejection(again())).name).to.equal('OVERLOADED')
      delete faults.write
      expect((await again()).landed).to.include({ ok: true })
      expect(venue.exchange.done).to.have.length(1)
    })

    it('with an unknown commit are sent only if their bytes were stored', async () => {
      const store = await place().open()
      for (const isKept of [true, false]) {
        let writes = 0
        const server = await start(store, {
          async write(keep, entries) {
            if (!bringsBytes(entries) || (writes += 1) > 1) return keep()
            if (isKept) await keep()
            throw away(true)
          },
        })
        const asked = venue.exchange.asked.length
        const order1 = placing(venue, { clientOrders: [named(`kept ${isKept}`)] })
        const outcome = await server.submit(order1, soon()).then(
          () => 'sent',
          ({ name }: Error) => name,
        )
        expect(outcome).to.equal(isKept ? 'sent' : 'OVERLOADED')
        expect(venue.exchange.asked.length - asked).to.equal(isKept ? 1 : 0)
        await end(server)
      }
    })
  })
})

describe('a wallet on a chain and on an exchange beside it', () => {
  it('has separate nonces for both', async () => {
    const [site, venue] = [await startSite(), await startVenue({ livesMs: 120_000 })]
    const store = await freshStore()
    const signAny: Sign = (request) => (request.signable.scheme === 'typed-data' ? signTyped(request) : sign(request))
    try {
      for (let turn = 0; turn < 2; turn += 1) {
        const transactions = await transactionsOn({ store, sites: [site.network, venue.site], sign: signAny })
        venue.exchange.meddle = () => 'cut'
        const acted = await transactions.submit(placing(venue), soon())
        const sent = await transactions.submit(order(site), soon())
        expect(sent.nonce).to.equal(turn)
        expect(acted.nonce).to.be.above(1_000_000_000_000)
        await reaches(transactions, sent.txHash, 'CONFIRMED')
        expect(await transactions.nextNonce({ network: site.network, address: addressOf(0) }, soon())).to.equal(turn + 1)
        expect(await stateOf(transactions, acted.txHash)).not.to.equal('CONFIRMED')
        venue.exchange.meddle = () => 'pass'
        await transactions.stop(0)
      }
      const last = await transactionsOn({ store, sites: [site.network, venue.site], sign: signAny })
      await settled(last)
      expect((await last.list({})).entries.map(({ state }) => state)).to.deep.equal(Array(4).fill('CONFIRMED'))
      expect(venue.exchange.done).to.have.length(2)
      await last.stop(0)
    } finally {
      await store.close()
      await venue.stop()
      await site.stop()
    }
  })
})
