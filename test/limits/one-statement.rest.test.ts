// What limits cost: in PostgreSQL the reservation is a part of the statement that writes the entries; in the embedded store no statement asks what the server knows.
import { expect } from 'chai'
import type { KyselyPlugin } from 'kysely'
import { readAccount } from '../../core/limits/account.ts'
import type { NetworkLimits } from '../../core/limits/limit-checks.ts'
import { readEnded } from '../../core/limits/reservations.ts'
import { createSpendingLimits, type SpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { onBothStores, places } from '../store/stores.ts'
import { giveLease, newEntry, queueOf, wallet } from '../transactions/journal/entries.ts'
import { rejection } from '../transactions/site.ts'

/** The same store, which counts what is sent to the database; begin and commit of a transaction as well. */
function counted(store: Store): { store: Store; taken(): number } {
  let count = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => ((count += 1), node),
    transformResult: async ({ result }) => result,
  }
  return {
    store: {
      ...store,
      read: (work) => store.read((db) => work(db.withPlugin(plugin))),
      writeOnce: (work) => store.writeOnce((db) => work(db.withPlugin(plugin))),
      write(work) {
        count += 2
        return store.write((tx) => work(tx.withPlugin(plugin)))
      },
    },
    taken() {
      const taken = count
      count = 0
      return taken
    },
  }
}

const spendingOf = (entry: Entry): Spending => ({
  client: entry.client,
  is: 'new',
  coin: { symbol: 'ETH', decimals: 18 },
  steps: [{ entry, maxCostRaw: 100n, valueRaw: 0n }],
})

describe('a reservation in PostgreSQL', () => {
  const { place } = places('postgres')
  let store: Store
  let statements: () => number
  const lease = { queue: queueOf(), fencingToken: 1 }
  beforeEach(async () => {
    const { store: wrapped, taken } = counted(await place().open())
    store = wrapped
    statements = taken
    await giveLease(store, lease)
    taken()
  })

  const journalWith = (limits: NetworkLimits | undefined, on = store): { journal: Journal; limits: SpendingLimits } => {
    const budgets = createSpendingLimits(() => limits, 'postgres')
    return { journal: sqlJournal(on, undefined, [budgets]), limits: budgets }
  }
  /** As a request does it: its limits are asked, and then it is written. */
  async function write(journal: Journal, entry = newEntry()): Promise<Entry> {
    const spending = spendingOf(entry)
    const end = await journal.admit({ client: entry.client, chain: entry.chain, network: entry.network }, () => spending)
    try {
      await journal.open([entry], lease, undefined, [], spending)
    } finally {
      end?.()
    }
    return entry
  }
  const held = async () => {
    const row = await store.read((db) => db.selectFrom('budgets').selectAll().executeTakeFirst())
    const rows = await store.read((db) => db.selectFrom('reservations').select('entry_key').orderBy('entry_key').execute())
    return {
      count: row && row.body !== '' ? (readAccount(row.body).open['count'] ?? 0n) : 0n,
      keys: rows.map(({ entry_key }) => entry_key),
    }
  }
  const refusal = async (work: Promise<unknown>) => (await rejection(work)).name

  it('costs no statement of its own', async () => {
    const { journal } = journalWith(undefined)
    await write(journal)
    expect(statements()).to.equal(1)
    const { journal: limited } = journalWith({ transactionsPerHour: 3 })
    const first = await write(limited)
    statements()
    const second = await write(limited)
    expect(statements()).to.equal(1)
    expect(await held()).to.deep.equal({ count: 2n, keys: [first.key, second.key] })
    await write(limited)
    expect(await refusal(write(limited))).to.equal('LIMIT_EXCEEDED')
    expect(await held()).to.have.property('count', 3n)
  })

  it('costs none after a transaction has ended', async () => {
    const { journal } = journalWith({ transactionsPerHour: 3 })
    const entry = await write(journal)
    expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
    statements()
    await write(journal)
    expect(statements()).to.equal(1)
    expect(await held()).to.have.property('count', 1n)
  })

  it('is decided anew where another server has spent', async () => {
    const { store: other } = counted(await place().open())
    const servers = [journalWith({ transactionsPerHour: 3 }).journal, journalWith({ transactionsPerHour: 3 }, other).journal] as const
    await write(servers[0])
    await write(servers[1])
    await write(servers[0])
    const late = newEntry()
    expect(await refusal(write(servers[1], late))).to.equal('LIMIT_EXCEEDED')
    expect(await held()).to.have.property('count', 3n)
    expect(await servers[1].read(late.key)).to.equal(undefined)
  })

  it('stays out where the entries are refused: another owner, a stop, a key that is there', async () => {
    const { journal } = journalWith({ transactionsPerHour: 10 })
    const first = await write(journal)
    const lost = journal.open([newEntry()], { ...lease, fencingToken: 7 }, undefined, [], spendingOf(newEntry()))
    expect(await refusal(lost)).to.equal('OVERLOADED')
    expect(await refusal(write(journal, first))).to.not.equal('done')
    const stop = { mode: 'stop', scope: 'all', subject: '', set_by: 'op', set_at: 1, request_id: 'r', reason: null } as const
    await store.write((tx) =>
      tx
        .insertInto('stops')
        .values({ ...stop, lifted_at: null, lifted_by: null })
        .execute(),
    )
    expect(await refusal(write(journal))).to.equal('STOPPED')
    expect(await held()).to.deep.equal({ count: 1n, keys: [first.key] })
  })

  it('holds under requests and ends of two servers at once', async () => {
    const { store: other } = counted(await place().open())
    const journals = [journalWith({ transactionsPerHour: 20 }), journalWith({ transactionsPerHour: 20 }, other)]
    let done = 0
    let expired = 0
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const journal = journals[index % 2]!.journal
        const entry = newEntry({ address: wallet })
        const outcome = await (
          index % 3 === 0 ? journal.open([entry], lease, undefined, [], spendingOf(entry)) : write(journal, entry)
        ).then(
          () => 'done',
          ({ name }: Error) => name,
        )
        if (outcome === 'done') done += 1
        else expect(outcome).to.equal('LIMIT_EXCEEDED')
        if (outcome !== 'done' || index % 4 > 0) return
        expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
        expired += 1
      }),
    )
    const { count, keys } = await held()
    expect(count).to.equal(BigInt(done - expired))
    expect(keys).to.have.length(done - expired)
    expect(count <= 20n && done >= 20).to.equal(true)
  })
})

describe('a reservation in the embedded store', () => {
  const { place } = places('embedded')
  const lease = { queue: queueOf(), fencingToken: 1 }

  it('costs two statements beside its entry, and two at its end; without limits none', async () => {
    const { store, taken } = counted(await place().open())
    await giveLease(store, lease)
    /** Of a trade, and of its end. */
    const statements = async (journal: Journal): Promise<readonly [number, number]> => {
      const entry = newEntry()
      taken()
      await journal.open([entry], lease, undefined, [], spendingOf(entry))
      const begun = taken()
      expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
      return [begun, taken()]
    }
    const free = await statements(sqlJournal(store))
    // As on a server where nothing bounds anybody.
    const idle = { ...createSpendingLimits(() => undefined), isIdle: () => true }
    expect(await statements(sqlJournal(store, undefined, [idle]))).to.deep.equal(free)
    const limited = sqlJournal(store, undefined, [createSpendingLimits(() => ({ transactionsPerHour: 3 }))])
    // The first one creates the row of its client.
    await statements(limited)
    const [begun, ended] = await statements(limited)
    expect([begun - free[0], ended - free[1]]).to.deep.equal([2, 2])
    const body = await store.read((db) => db.selectFrom('budgets').select('body').executeTakeFirstOrThrow())
    expect(readAccount(body.body).open).to.deep.equal({})
  })

  it('reads an account once, however many of its transactions end at once', async () => {
    const { store } = counted(await place().open())
    await giveLease(store, lease)
    const journal = sqlJournal(store, undefined, [createSpendingLimits(() => ({ transactionsPerHour: 9 }))])
    const entries = [newEntry(), newEntry(), newEntry()]
    for (const entry of entries) await journal.open([entry], lease, undefined, [], spendingOf(entry))
    const keys = entries.map(({ key }) => key)
    const rows = await store.write((tx) => readEnded(keys, tx, 'embedded'))
    expect(rows.map(({ entry_key }) => entry_key)).to.have.members(keys)
    expect(rows.filter(({ account }) => account !== null)).to.have.length(1)
    const ended = entries.map((entry): Entry => ({ ...entry, version: 2, state: 'EXPIRED' }))
    expect(await journal.write(ended, lease)).to.equal(true)
    const { body } = await store.read((db) => db.selectFrom('budgets').select('body').executeTakeFirstOrThrow())
    expect(readAccount(body).open).to.deep.equal({})
  })
})

describe('the write of a request that was admitted', () => {
  const lease = { queue: queueOf(), fencingToken: 1 }
  const admit = (journal: Journal, entry: Entry, spending: Spending) =>
    journal.admit({ client: entry.client, chain: entry.chain, network: entry.network }, () => spending)
  /** From then on the server knows the account. */
  const spendNothing = async (journal: Journal) => {
    const entry = newEntry()
    await journal.open([entry], lease, undefined, [], spendingOf(entry))
    expect(await journal.write([{ ...entry, version: 2, state: 'EXPIRED' }], lease)).to.equal(true)
  }

  onBothStores((place) => {
    it('is refused where the limits have changed meanwhile', async () => {
      const { store } = counted(await place().open())
      await giveLease(store, lease)
      let limits: NetworkLimits = { transactionsPerHour: 3 }
      const journal = sqlJournal(store, undefined, [createSpendingLimits(() => limits, place().kind)])
      await spendNothing(journal)
      const entry = newEntry()
      const admission = await admit(journal, entry, spendingOf(entry))
      limits = { transactionsPerHour: 0 }
      const refused = await rejection(
        journal.open([entry], lease, undefined, [], { ...spendingOf(entry), ...(admission && { admission }) }),
      )
      expect(refused).to.include({ name: 'LIMIT_EXCEEDED' })
    })

    it('is refused where something else was spent meanwhile, that this server did not know of', async () => {
      const { store } = counted(await place().open())
      await giveLease(store, lease)
      const limits: NetworkLimits = { transactionsPerHour: 1 }
      const [journal, other] = [createSpendingLimits(() => limits, place().kind), createSpendingLimits(() => limits, place().kind)].map(
        (each) => sqlJournal(store, undefined, [each]),
      )
      if (!journal || !other) throw new Error('There are two.')
      const [entry, first] = [newEntry(), newEntry()]
      const admission = await admit(journal, entry, spendingOf(entry))
      await other.open([first], lease, undefined, [], spendingOf(first))
      const refused = await rejection(
        journal.open([entry], lease, undefined, [], { ...spendingOf(entry), ...(admission && { admission }) }),
      )
      expect(refused).to.include({ name: 'LIMIT_EXCEEDED' })
    })

    it('is held against the prices of its write, where that comes more than a second later', async () => {
      const { store } = counted(await place().open())
      await giveLease(store, lease)
      let [nowMs, micros] = [0, 900_000n]
      const limits: NetworkLimits = { value: { perDay: '1' } }
      const budgets = createSpendingLimits(
        () => limits,
        place().kind,
        () => nowMs,
      )
      budgets.readBy({
        gains: () => undefined,
        tells: () => undefined,
        gasCost: () => undefined,
        heldChanges: () => [],
        token: () => undefined,
        value: () => ({ is: 'priced', micros }),
        reference: () => 'USDC',
      })
      const journal = sqlJournal(store, undefined, [budgets])
      await spendNothing(journal)
      const entry = newEntry()
      const spending: Spending = { ...spendingOf(entry), commitment: { gives: { token: 1n } } }
      const admission = await admit(journal, entry, spending)
      ;[nowMs, micros] = [1_001, 1_100_000n]
      const refused = await rejection(journal.open([entry], lease, undefined, [], { ...spending, ...(admission && { admission }) }))
      expect(refused).to.include({ name: 'LIMIT_EXCEEDED' })
    })
  })
})
