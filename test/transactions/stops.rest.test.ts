import { expect } from 'chai'
import { sql } from 'kysely'
import { command } from '../../core/base/layout.ts'
import type { StopMode } from '../../core/api/index.ts'
import type { StopScope } from '../../core/config/stops.ts'
import type { Store, StoreLog } from '../../core/store/store.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { waitForWriters } from '../../core/transactions/journal/postgres.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { createStops } from '../../core/transactions/stops.ts'
import { onBothStores, places } from '../store/stores.ts'
import { giveLease, newEntry, queueOf, wallet } from './journal/entries.ts'
import { addressOf, gate, order, rejection, sign, silent, soon, startSite, transactionsOn, type TestSite } from './site.ts'

const by = { client: 'ops', requestId: 'r-1' }

const stopsOn = (store: Store, log: StoreLog = silent) =>
  createStops({
    store,
    log,
    waitForWriters: async () => store.kind === 'postgres' && waitForWriters(store),
    nowMs: () => 1_800_000_000_000,
  })

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ name }: Error) => name,
  )

/** What a request wants, by its entry. */
const effects: Readonly<Record<string, Partial<Entry>>> = {
  trade: { kind: 'trade' },
  send: { kind: 'send' },
  approve: { kind: 'approve' },
  'open a position': { kind: 'position' },
  'close a position': { kind: 'position', reduces: true },
  'remove liquidity': { kind: 'liquidity', reduces: true },
  'cancel an order': { kind: 'order-cancel' },
  cancel: { kind: 'cancel' },
  'fill a gap': { kind: 'fill', client: 'sluice' },
}
const cancels = ['cancel an order', 'cancel', 'fill a gap']

describe('a stop', () => {
  onBothStores((place) => {
    let store: Store
    beforeEach(async () => {
      store = await place().open()
    })

    async function journaled(over: Partial<Entry>, client?: string): Promise<string> {
      const entry = newEntry(over)
      const lease = await giveLease(store, { queue: queueOf(entry.signer ?? entry.address), fencingToken: 1 })
      const spending = {
        client: client ?? entry.client,
        is: 'new' as const,
        coin: { symbol: 'ETH', decimals: 18 },
        steps: [{ entry, maxCostRaw: 1n, valueRaw: 0n }],
      }
      return outcomeOf(sqlJournal(store).open([entry], lease, undefined, [], spending))
    }
    async function passing(): Promise<string[]> {
      const outcomes = await Promise.all(Object.entries(effects).map(async ([name, over]) => [name, await journaled(over)] as const))
      expect(outcomes.map(([, outcome]) => outcome)).to.not.include.members(['Error', 'UNKNOWN_ERROR'])
      return outcomes.filter(([, outcome]) => outcome === 'done').map(([name]) => name)
    }

    it('lets only cancels be journaled, and reduce-only also what reduces', async () => {
      const stops = stopsOn(store)
      expect(await passing()).to.deep.equal(Object.keys(effects))
      await stops.set({ mode: 'reduce-only', scope: { of: 'all' } }, by)
      expect(await passing()).to.have.members(['close a position', 'remove liquidity', ...cancels])
      await stops.set({ mode: 'stop', scope: { of: 'all' } }, by)
      expect(await passing()).to.have.members(cancels)
      await stops.lift({ scope: { of: 'all' }, mode: 'stop' }, by)
      expect(await passing()).to.have.members(['close a position', 'remove liquidity', ...cancels])
      await stops.lift({ scope: { of: 'all' } }, by)
      expect(await passing()).to.deep.equal(Object.keys(effects))
    })

    it('refuses a plan of which one step would be refused', async () => {
      await stopsOn(store).set({ mode: 'reduce-only', scope: { of: 'all' } }, by)
      const entries = [newEntry({ kind: 'liquidity', reduces: true }), newEntry({ kind: 'liquidity' })]
      expect(await outcomeOf(sqlJournal(store).open(entries, await giveLease(store)))).to.equal('STOPPED')
      expect((await sqlJournal(store).list({})).entries).to.deep.equal([])
    })

    it('holds a wallet and what signs for it, or whatever a client asks for', async () => {
      const stops = stopsOn(store)
      const [agent, other] = ['0xaaaa000000000000000000000000000000000001', '0xBBbb000000000000000000000000000000000002']
      const held = async (scope: StopScope) => {
        await stops.set({ mode: 'stop', scope }, by)
        const outcomes = [
          await journaled({ client: 'bot' }),
          await journaled({ client: 'bot', address: other }),
          await journaled({ client: 'bot', address: other, signer: agent, connector: 'exchange' }),
          await journaled({ client: 'other' }),
          // Another client's transaction, at the bot's request.
          await journaled({ client: 'other', address: other }, 'bot'),
        ]
        await stops.lift({ scope }, by)
        return outcomes.map((each) => each === 'STOPPED')
      }
      expect(await held({ of: 'wallet', subject: wallet.toLowerCase() })).to.deep.equal([true, false, false, true, false])
      expect(await held({ of: 'wallet', subject: wallet })).to.deep.equal([true, false, false, true, false])
      expect(await held({ of: 'wallet', subject: agent })).to.deep.equal([false, false, true, false, false])
      expect(await held({ of: 'client', subject: 'bot' })).to.deep.equal([true, true, true, false, true])
    })

    it('says who set it, when, for what and why, and how it is lifted', async () => {
      await stopsOn(store).set({ mode: 'stop', scope: { of: 'wallet', subject: wallet }, reason: 'key lost' }, by)
      const { name, message, details } = await rejection(sqlJournal(store).open([newEntry()], await giveLease(store)))
      expect(name).to.equal('STOPPED')
      expect(message).to.equal(
        `stop is set for the wallet ${wallet.toLowerCase()} by "ops" since 2027-01-15T08:00:00.000Z: "key lost". Nothing was signed: only cancels go through. A certificate with the permission resume lifts it: \`${command} resume --wallet ${wallet.toLowerCase()}\`, or DELETE /stops.`,
      )
      expect(details).to.deep.equal({
        mode: 'stop',
        of: 'wallet',
        address: wallet.toLowerCase(),
        setBy: 'ops',
        since: 1_800_000_000_000,
        reason: 'key lost',
      })
    })

    it('stays as it was first set, is kept when it is lifted, and both are logged', async () => {
      const lines: object[] = []
      const stops = stopsOn(store, { ...silent, warn: (fields: object, message?: string) => void lines.push({ ...fields, message }) })
      const all: StopScope = { of: 'all' }
      const first = await stops.set({ mode: 'stop', scope: all, reason: 'why' }, by)
      expect(await stops.set({ mode: 'stop', scope: all }, { client: 'other', requestId: 'r-2' })).to.deep.equal(first)
      await stops.set({ mode: 'reduce-only', scope: all }, by)
      expect((await stops.list()).map(({ mode }) => mode)).to.deep.equal(['stop', 'reduce-only'])
      const lifted = await stops.lift({ scope: all }, { client: 'boss', requestId: 'r-3' })
      expect(lifted.map(({ mode }) => mode)).to.have.members(['stop', 'reduce-only'])
      expect(await stops.lift({ scope: all }, by)).to.deep.equal([])
      expect(await stops.list()).to.deep.equal([])
      const { rows } = await store.read((db) => sql`select mode, set_by, lifted_by, request_id, reason from stops order by id`.execute(db))
      expect(rows).to.deep.equal([
        { mode: 'stop', set_by: 'ops', lifted_by: 'boss', request_id: 'r-1', reason: 'why' },
        { mode: 'reduce-only', set_by: 'ops', lifted_by: 'boss', request_id: 'r-1', reason: null },
      ])
      expect(lines).to.have.length(4)
      expect(lines[2]).to.include({ by: 'ops', of: 'all', now: 'reduce-only', message: 'reduce-only set for all' })
      expect(lines[2]).to.deep.include({ before: ['stop'] })
      expect(lines[3]).to.deep.include({ by: 'boss', requestId: 'r-3', message: 'stop and reduce-only lifted for all' })
    })
  })

  describe('in PostgreSQL', () => {
    const { place } = places('postgres')

    it('holds a write that began before it was answered, and waits for those that were in the middle', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const { pass, open } = gate()
      const began = gate()
      // Another server, stopped in its write: it has the lock of its lease, as every write has.
      const writing = store.write(async (tx) => {
        await sql`select 1 from lanes for share`.execute(tx)
        began.open()
        await pass
      })
      await began.pass
      let isAnswered = false
      const set = stopsOn(store)
        .set({ mode: 'stop', scope: { of: 'all' } }, by)
        .finally(() => (isAnswered = true))
      await locksOf(store, 'ExclusiveLock', false)
      // It waits behind the stop, which is committed and not answered yet.
      const behind = outcomeOf(sqlJournal(store).open([newEntry()], lease))
      await locksOf(store, 'RowShareLock', false)
      expect(isAnswered).to.equal(false)
      open()
      await Promise.all([writing, set])
      expect(await behind).to.equal('STOPPED')
    })
  })
})

/** Waits until somebody holds such a lock of the leases, or waits for it. */
async function locksOf(store: Store, mode: string, granted: boolean): Promise<void> {
  for (const endsAt = Date.now() + 180_000; Date.now() < endsAt;) {
    const { rows } = await store.read((db) =>
      sql`select 1 from pg_locks where relation = 'lanes'::regclass and mode = ${mode} and granted = ${granted}`.execute(db),
    )
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`Nobody has ${mode}.`)
}

describe('a stop that is set while transactions are pending', () => {
  let site: TestSite
  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())

  onBothStores((place) => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await place().open()
      other = place().kind === 'postgres' ? await place().open() : store
    })
    afterEach(() => site.rpc('anvil_dropAllTransactions'))

    it('lets them be cancelled and cancels be sped up, and nothing else, on every server', async () => {
      const asked: string[] = []
      const signer: typeof sign = (request) => (asked.push(request.address), sign(request))
      const [first, second] = await Promise.all([store, other].map((each) => transactionsOn({ store: each, sign: signer })))
      if (!first || !second) throw new Error('two were started')
      const set = (mode: StopMode) => stopsOn(store).set({ mode, scope: { of: 'all' } }, by)
      try {
        for (const kind of ['trade', 'trade', 'position'] as const)
          await first.submit(order(site, { kind, ...(kind === 'position' && { reduces: true }) }), soon())
        await set('reduce-only')
        asked.length = 0
        expect(await outcomeOf(second.submit(order(site, { address: addressOf(1) }), soon()))).to.equal('STOPPED')
        expect(await outcomeOf(first.submit(order(site), soon()))).to.equal('STOPPED')
        expect(await outcomeOf(first.speedUp(order(site, { nonce: 0 }), soon()))).to.equal('STOPPED')
        expect(asked).to.deep.equal([])
        expect(await outcomeOf(first.speedUp(order(site, { nonce: 2 }), soon()))).to.equal('done')
        expect((await first.submit(order(site, { kind: 'liquidity', reduces: true }), soon())).nonce).to.equal(3)
        await set('stop')
        asked.length = 0
        expect(await outcomeOf(first.submit(order(site, { kind: 'liquidity', reduces: true }), soon()))).to.equal('STOPPED')
        expect(await outcomeOf(first.speedUp(order(site, { nonce: 2 }), soon()))).to.equal('STOPPED')
        expect(asked).to.deep.equal([])
        expect(await outcomeOf(first.cancel(order(site, { nonce: 1 }), soon()))).to.equal('done')
        expect(await outcomeOf(first.speedUp(order(site, { nonce: 1 }), soon()))).to.equal('done')
        await stopsOn(other).lift({ scope: { of: 'all' } }, by)
        expect((await second.submit(order(site, { address: addressOf(1) }), soon())).nonce).to.equal(0)
      } finally {
        for (const server of [first, second]) await server.stop(500)
      }
    })
  })
})
