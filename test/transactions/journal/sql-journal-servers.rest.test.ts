import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Client } from 'pg'
import { type Lease, type Journal, type JournalEvent, OwnershipLostError } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { places } from '../../store/stores.ts'
import { until } from '../site.ts'
import { giveKey, giveLease, queueOf, newEntry, next, signed } from './entries.ts'

describe('the journal of several servers in PostgreSQL', () => {
  const { place } = places('postgres')
  let journal: Journal
  let lease: Lease
  let other: Client
  let store: Awaited<ReturnType<ReturnType<typeof place>['open']>>
  beforeEach(async () => {
    store = await place().open()
    journal = sqlJournal(store)
    lease = await giveLease(store)
    const { url } = place().options
    if (url === undefined) throw new Error('no database')
    other = new Client({ connectionString: url })
    await other.connect()
  })
  afterEach(() => other.end())

  const settled = async (work: Promise<unknown>) => Promise.race([work.then(() => true), sleep(150).then(() => false)])
  /** How many statements wait for a lock of the other's. */
  const heldUp = async () => {
    const { rows } = await other.query('select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))')
    return rows.length
  }
  const errorOf = async (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )
  const idsOf = (events: readonly JournalEvent[]) => events.map(({ id }) => id)

  it('never returns an event before one with a lower id that is not visible yet', async () => {
    await other.query('begin')
    await other.query('select pg_advisory_xact_lock_shared($1)', [0x53_6c_75_69_63_65])
    await other.query(`insert into events (entry_key, wallet, change) select '0', 0, '[]'`)
    const late = newEntry()
    await journal.open([late], lease)
    const told = journal.eventsAfter(0, { limit: 9 })
    const newest = journal.lastEventId()
    expect(await settled(told)).to.equal(false)
    expect(await settled(newest)).to.equal(false)
    await other.query('commit')
    expect((await told).map(({ entry }) => entry.key)).to.deep.equal([late.key])
    expect(await newest).to.equal(2)
  })

  it('returns every event once and in order, while several servers write', async () => {
    // Ids are given in one order and become visible in another.
    await other.query(`create function slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(random() * 0.02); return null; end $$`)
    await other.query(`create constraint trigger slow after insert on events deferrable initially deferred
      for each row execute function slow()`)
    const lanes = await Promise.all(
      Array.from({ length: 6 }, (_, index) => giveLease(store, { queue: queueOf(`0x${index}`), fencingToken: 1 })),
    )
    const second = sqlJournal(await place().open())
    const over = new AbortController()
    const followed: JournalEvent[] = []
    const following = (async () => {
      for (;;) {
        const isLast = over.signal.aborted
        const events = await second.eventsAfter(followed.at(-1)?.id ?? 0, { limit: 7 })
        followed.push(...events)
        if (isLast && events.length === 0) return
      }
    })()
    await Promise.all(
      lanes.map(async (lane, index) => {
        for (let count = 0; count < 15; count += 1) {
          const writer = count % 2 === 0 ? journal : second
          const entries = [newEntry({ address: `0x${index}` }), newEntry({ address: `0x${index}` })]
          await writer.open(entries, lane)
          await writer.write(
            entries.map((entry) => signed(entry)),
            lane,
          )
        }
      }),
    )
    over.abort()
    await following
    const all = await store.read((db) => db.selectFrom('events').select('id').orderBy('id').execute())
    expect(all).to.have.length(6 * 15 * 4)
    expect(idsOf(followed)).to.deep.equal(all.map(({ id }) => id))
  })

  it('writes nothing for a server whose lease another takes at the same moment', async () => {
    const [one, two] = [newEntry(), newEntry()]
    await journal.open([one], lease)
    await other.query('begin')
    await other.query('update lanes set fence = fence + 1')
    const opening = errorOf(journal.open([two], lease))
    const writing = errorOf(journal.write([signed(one)], lease))
    expect(await settled(opening)).to.equal(false)
    expect(await settled(writing)).to.equal(false)
    await other.query('commit')
    expect(await opening).to.be.instanceOf(OwnershipLostError)
    expect(await writing).to.be.instanceOf(OwnershipLostError)
    expect(await journal.unfinished({ chain: 'ethereum', network: 'local' })).to.deep.equal([one])
  })

  it('makes a takeover wait for a write that is under way, and then shows it', async () => {
    const one = newEntry()
    await journal.open([one], lease)
    // It is held up after it has seen its lane: by the row that it is to change.
    await other.query('begin')
    await other.query('select 1 from entries for update')
    const writing = journal.write([signed(one)], lease)
    await until('it is held up', async () => (await heldUp()) > 0)
    expect(await settled(writing)).to.equal(false)
    const taking = giveLease(store, { queue: lease.queue, fencingToken: 2 })
    expect(await settled(taking)).to.equal(false)
    await other.query('commit')
    expect(await writing).to.equal(true)
    await taking
    expect((await journal.unfinished({ chain: 'ethereum', network: 'local' }))[0]?.state).to.equal('SIGNED')
    expect(await errorOf(journal.write([next(signed(one), {})], lease))).to.be.instanceOf(OwnershipLostError)
  })

  it('writes nothing for a call whose key another call takes at the same moment', async () => {
    const claim = await giveKey(store, 'k')
    const one = newEntry()
    await other.query('begin')
    await other.query('update requests set claim = claim + 1')
    const opening = errorOf(journal.open([one], lease, claim))
    expect(await settled(opening)).to.equal(false)
    await other.query('commit')
    expect(await opening).to.be.instanceOf(OwnershipLostError)
    expect((await journal.list({})).entries).to.deep.equal([])
  })

  it('lets one of two writes of the same version win', async () => {
    const one = newEntry()
    await journal.open([one], lease)
    for (let version = 1; version < 20; version += 1) {
      const entry = { ...one, version }
      const won = await Promise.all(Array.from({ length: 4 }, () => journal.write([next(entry, {})], lease)))
      expect(won.filter(Boolean)).to.have.length(1)
    }
  })

  it('takes one round trip to open and one to write', async () => {
    const statements: string[] = []
    const counting = sqlJournal({
      ...store,
      write: () => Promise.reject(new Error('a transaction of several round trips')),
      writeOnce: (statement) => {
        statements.push('one')
        return store.writeOnce(statement)
      },
    })
    const one = newEntry()
    await counting.open([one], lease)
    await counting.write([signed(one)], lease)
    expect(statements).to.have.length(2)
  })
})
