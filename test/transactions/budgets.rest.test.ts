import { expect } from 'chai'
import { sql } from 'kysely'
import { SluiceError } from '../../core/contracts/index.ts'
import type { Store } from '../../core/store/store.ts'
import type { Budgets, Spending } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { onBothStores } from '../store/stores.ts'
import { addressOf, gwei, nowhere, order, planOf, rejection, sign, soon, startSite, transactionsOn, type TestSite } from './site.ts'
import { giveLease, newEntry, queueOf } from './journal/entries.ts'

/** A budget for the tests: so many requests, whoever makes them, in a table of its own. */
const count: Budgets = {
  async reserve(_, tx) {
    const { rows } = await sql`update test_budget set remaining = remaining - 1 where remaining > 0 returning remaining`.execute(tx)
    if (rows.length === 0) throw new SluiceError('FORBIDDEN', 'The budget is spent.')
  },
  async settle(ended, tx) {
    await sql`update test_budget set remaining = remaining + ${ended.length}`.execute(tx)
  },
}

async function grant(store: Store, remaining: number): Promise<void> {
  await store.write((tx) => sql`create table test_budget (remaining integer)`.execute(tx))
  await store.write((tx) => sql`insert into test_budget values (${remaining})`.execute(tx))
}

const remainingIn = async (store: Store): Promise<number | undefined> =>
  (await store.read((db) => sql<{ remaining: number }>`select remaining from test_budget`.execute(db))).rows[0]?.remaining

const spendingOf = (...entries: readonly Entry[]): Spending => ({
  client: 'bot',
  is: 'new',
  coin: { symbol: 'ETH', decimals: 18 },
  steps: entries.map((entry) => ({ entry, maxCostRaw: 1n, valueRaw: 0n })),
})

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ name }: Error) => name,
  )

describe('budgets', () => {
  let site: TestSite
  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())

  onBothStores((place) => {
    let store: Store
    /** Of another server where the database can have one. */
    let other: Store
    beforeEach(async () => {
      store = await place().open()
      other = place().kind === 'postgres' ? await place().open() : store
    })
    afterEach(() => site.rpc('anvil_dropAllTransactions'))

    it('change and answer in the write that makes the entries', async () => {
      await grant(store, 5)
      const journals = [sqlJournal(store, undefined, [count]), sqlJournal(other, undefined, [count])]
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const entry = newEntry({ address: `0x${index}` })
          const lease = await giveLease(store, { queue: queueOf(entry.address), fencingToken: 1 })
          return outcomeOf(journals[index % 2]?.open([entry], lease, undefined, [], spendingOf(entry)) ?? Promise.resolve())
        }),
      )
      expect(outcomes.filter((each) => each === 'done')).to.have.length(5)
      expect(outcomes.filter((each) => each === 'FORBIDDEN')).to.have.length(7)
      expect(await journals[0]?.unfinished({ chain: 'ethereum', network: 'local' })).to.have.length(5)
      expect(await remainingIn(store)).to.equal(0)
    })

    it('keep nothing of a write that is refused for another reason', async () => {
      await grant(store, 5)
      const journal = sqlJournal(store, undefined, [count])
      const [entry, twin] = [newEntry(), newEntry()]
      const lease = await giveLease(store)
      const lost = { ...lease, fencingToken: 7 }
      expect(await outcomeOf(journal.open([entry], lost, undefined, [], spendingOf(entry)))).to.equal('OVERLOADED')
      expect(await outcomeOf(journal.reserve?.(spendingOf(entry), lost) ?? Promise.resolve())).to.equal('OVERLOADED')
      await journal.open([twin], lease, undefined, [], spendingOf(twin))
      expect(await outcomeOf(journal.open([twin], lease, undefined, [], spendingOf(twin)))).to.not.equal('done')
      expect(await remainingIn(store)).to.equal(4)
      await journal.reserve?.(spendingOf(twin), lease)
      expect(await remainingIn(store)).to.equal(3)
    })

    it('let no entry be written that they were not told of', async () => {
      await grant(store, 5)
      const journal = sqlJournal(store, undefined, [count])
      const { message } = await rejection(journal.open([newEntry()], await giveLease(store)))
      expect(message).to.contain('not told')
      expect((await journal.list({})).entries).to.deep.equal([])
    })

    it('learn of an end in the write that stores it, and of none that is not stored', async () => {
      await grant(store, 5)
      const journal = sqlJournal(store, undefined, [count])
      const [entry, open] = [newEntry(), newEntry()]
      const lease = await giveLease(store)
      for (const each of [entry, open]) await journal.open([each], lease, undefined, [], spendingOf(each))
      expect(await remainingIn(store)).to.equal(3)
      expect(await journal.write([{ ...open, version: 2, state: 'SIGNED' }], lease)).to.equal(true)
      expect(await journal.write([{ ...entry, version: 3, state: 'EXPIRED' }], lease)).to.equal(false)
      expect(await remainingIn(store)).to.equal(3)
      expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
      expect(await remainingIn(store)).to.equal(4)
    })

    it('with room for one let one of two requests at the same time through, on servers of one database', async () => {
      await grant(store, 1)
      const asked: string[] = []
      const signer: typeof sign = (request) => (asked.push(request.address), sign(request))
      const servers = await Promise.all([store, other].map((each) => transactionsOn({ store: each, budgets: count, sign: signer })))
      try {
        const outcomes = await Promise.all(
          servers.map((server, index) => outcomeOf(server.submit(order(site, { address: addressOf(index) }), soon()))),
        )
        expect(outcomes).to.have.members(['done', 'FORBIDDEN'])
        expect(asked).to.deep.equal([addressOf(outcomes.indexOf('done'))])
        expect((await servers[0]?.list({}))?.entries).to.have.length(1)
      } finally {
        for (const server of servers) await server.stop(500)
      }
    })

    it('learn for every kind who asks and what it can cost, and refuse each before it is signed', async () => {
      const told: Spending[] = []
      let refuses = false
      const asked: string[] = []
      const server = await transactionsOn({
        store,
        sign: (request) => (asked.push(request.address), sign(request)),
        budgets: {
          async reserve(spending) {
            if (refuses) throw new SluiceError('FORBIDDEN', 'The budget is spent.')
            told.push(spending)
          },
        },
      })
      try {
        const kinds = ['trade', 'liquidity', 'order', 'approve', 'wrap', 'send'] as const
        for (const kind of kinds) await server.submit(order(site, { kind }), soon())
        const two = planOf({ to: nowhere, data: '0x', value: '3' }, { to: nowhere, data: '0x', value: '4' })
        await server.submit(order(site, { plan: two, caller: { id: 'other' } }), soon())
        await server.speedUp(order(site, { nonce: 0 }), soon())
        await server.cancel(order(site, { nonce: 1 }), soon())
        expect(
          told.map(({ is, client, steps }) => [is, client, steps.map(({ entry }) => `${entry.kind} ${entry.nonce}`).join()]),
        ).to.deep.equal([
          ...kinds.map((kind, index) => ['new', 'client', `${kind} ${index}`]),
          ['new', 'other', 'trade 6,trade 7'],
          ['raise', 'client', 'trade 0'],
          ['new', 'client', 'cancel 1'],
        ])
        const [raise, cancel] = told.slice(-2).map(({ steps }) => steps[0])
        expect(Number(raise?.maxCostRaw) / Number(raise?.lastCostRaw)).to.be.within(1.1, 3)
        expect(cancel?.replaces).to.equal(told[1]?.steps[0]?.entry.key)
        expect(told[6]?.steps.map(({ maxCostRaw }) => maxCostRaw > 21_000n * gwei)).to.deep.equal([true, true])

        refuses = true
        asked.length = 0
        const before = (await server.list({})).entries.length
        expect(await outcomeOf(server.submit(order(site), soon()))).to.equal('FORBIDDEN')
        expect(await outcomeOf(server.cancel(order(site, { nonce: 2 }), soon()))).to.equal('FORBIDDEN')
        expect(await outcomeOf(server.speedUp(order(site, { nonce: 3 }), soon()))).to.equal('FORBIDDEN')
        expect(asked).to.deep.equal([])
        expect((await server.list({})).entries).to.have.length(before)
        refuses = false
        expect((await server.submit(order(site), soon())).nonce).to.equal(8)
      } finally {
        await server.stop(500)
      }
    })
  })
})
