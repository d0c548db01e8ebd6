import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { firstKeyAt } from '../../../core/transactions/submit-request.ts'
import { onBothStores } from '../../store/stores.ts'
import { giveLease, newEntry, next } from './entries.ts'

const dayMs = 86_400_000
const start = Date.UTC(2026, 4, 1)
const day = (index: number, ms = 0) => start + index * dayMs + ms

describe('a list of a time', () => {
  onBothStores((place) => {
    let made = 0
    const requested = (createdAt: number, keyMs = createdAt): Entry =>
      newEntry({ key: `${firstKeyAt(keyMs)}${String(made++).padStart(8, '0')}`, createdAt })

    /** A clock was two days ahead on the second day, and was set back: keys stay there until that time has come. */
    async function journalWith() {
      made = 0
      const store = await place().open()
      const lease = await giveLease(store)
      const journal = sqlJournal(store)
      const parts = {
        before: Array.from({ length: 5 }, (_, index) => requested(day(1, index))),
        ahead: Array.from({ length: 40 }, (_, index) => requested(day(1, 1_000 + index * 3_000_000), day(3, Math.floor(index / 10)))),
        later: Array.from({ length: 5 }, (_, index) => requested(day(3, 5_000 + index))),
      }
      for (const each of [parts.before, parts.ahead, parts.later]) await journal.open(each, lease)
      return { journal, store, lease, all: [...parts.before, ...parts.ahead, ...parts.later] }
    }

    async function keysOf(journal: ReturnType<typeof sqlJournal>, filter: EntryFilter): Promise<readonly string[]> {
      const keys: string[] = []
      let cursor: string | undefined
      do {
        const page = await journal.list({ ...filter, ...(cursor !== undefined && { cursor }) })
        if (page.nextCursor !== undefined) expect(page.nextCursor).to.match(/^[0-9a-z]{17}$/)
        keys.push(...page.entries.map(({ key }) => key))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return keys
    }

    it('has what was requested in it, also where keys are ahead of the clock, once and by the order of keys', async function () {
      this.timeout(240_000)
      const { journal, all, lease } = await journalWith()
      const hasAll = async (more: EntryFilter) => {
        for (const [from, to] of [
          [0, 1],
          [1, 2],
          [2, 3],
          [3, 4],
          [0, 9],
          [1, undefined],
          [undefined, 2],
          [3, undefined],
        ] as const)
          for (const limit of [500, 7, 1]) {
            const isWithin = ({ createdAt }: Entry) =>
              createdAt >= (from === undefined ? 0 : day(from)) && createdAt < (to === undefined ? Infinity : day(to))
            const wanted = all
              .filter(isWithin)
              .map(({ key }) => key)
              .toSorted()
              .toReversed()
            const filter = { ...more, limit, ...(from !== undefined && { from: day(from) }), ...(to !== undefined && { to: day(to) }) }
            expect(await keysOf(journal, filter), JSON.stringify(filter)).to.deep.equal(wanted)
          }
      }
      await hasAll({})
      await hasAll({ client: 'bot' })
      const ended = all.map((entry) => next(entry, { state: 'DROPPED' }))
      await journal.write(ended, lease)
      await journal.ended.moveOut(ended.filter((_, index) => index % 2 === 0))
      await hasAll({ archived: true })
    })

    it('knows of such keys from the store, which another server wrote', async () => {
      const { store, all } = await journalWith()
      const keys = await keysOf(sqlJournal(store), { from: day(2), to: day(3) })
      expect(keys).to.have.length(all.filter(({ createdAt }) => createdAt >= day(2) && createdAt < day(3)).length)
      expect(keys.length).to.be.greaterThan(0)
    })

    /** The same journal, and how many statements its lists have taken. */
    function counted(store: Store) {
      const taken = { statements: 0 }
      const read: Store['read'] = (work) => {
        taken.statements += 1
        return store.read(work)
      }
      return { journal: sqlJournal({ ...store, read }), taken }
    }

    it('looks at some of an archive in which few match, and goes on in the next page', async function () {
      this.timeout(240_000)
      const { store, journal, lease } = await journalWith()
      const [rare, common] = [requested(day(2)), requested(day(2, 1))]
      await journal.open([rare, common], lease)
      const ended = [rare, common].map((entry) => next(entry, { state: 'DROPPED' }))
      await journal.write(ended, lease)
      await journal.ended.moveOut(ended)
      const columns = ['chain', 'address', 'request_id', 'client', 'kind', 'connector', 'pair', 'body'] as const
      await store.write(async (tx) => {
        await tx.updateTable('archived').set({ network: 'rare' }).where('key', '=', rare.key).execute()
        const names = sql.join(columns.map((each) => sql.ref(each)))
        const copies = sql`
          with recursive numbers (n) as (select 100000 union all select n + 1 from numbers where n < 120000)
          insert into archived (key, network, ${names})
          select ${firstKeyAt(day(2, 1_000))} || 'zz' || n, network, ${names} from archived, numbers where key = ${common.key}`
        await copies.execute(tx)
      })
      const { journal: read, taken } = counted(store)
      const filter = { from: day(0), to: day(9), network: 'rare', archived: true }
      const first = await read.list(filter)
      expect(first.entries).to.deep.equal([])
      expect(first.nextCursor).to.be.a('string')
      expect(taken.statements).to.be.lessThan(150)
      expect(await keysOf(read, filter)).to.deep.equal([rare.key])
    })

    it('finds one entry of a time behind many of another in few statements', async () => {
      const { store, all } = await journalWith()
      const { journal, taken } = counted(store)
      const wanted = all.findLast(({ createdAt }) => createdAt < day(1, 1_000))
      const { entries } = await journal.list({ to: day(1, 1_000), limit: 1 })
      expect(entries.map(({ key }) => key)).to.deep.equal([wanted?.key])
      expect(taken.statements).to.be.lessThan(10)
    })

    it('notes one lead for all keys of it, and none where keys are those of the clock', async () => {
      const { store, journal, lease } = await journalWith()
      const leads = () => store.read((db) => db.selectFrom('key_leads').selectAll().execute())
      expect(await leads()).to.deep.equal([{ key_ms: day(3), created_ms: day(1, 1_000) - 60_000 }])
      await journal.open([requested(day(5)), requested(day(5, 1), day(5, 50_000))], lease)
      expect(await leads()).to.have.length(1)
      // It is set back further.
      await journal.open([requested(day(0), day(3, 20_000))], lease)
      expect(await keysOf(journal, { from: day(0), to: day(1) })).to.have.length(1)
    })
  })
})
