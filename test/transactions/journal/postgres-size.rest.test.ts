import { expect } from 'chai'
import { openStore } from '../../../core/store/open-store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../../store/postgres.ts'
import { silent } from '../site.ts'
import { journalTrades } from './grown-journal.ts'

const trades = 1_000
describe('a million trades in PostgreSQL', () => {
  let postgres: TestPostgres
  before(async function () {
    if (!isPostgresInstalled) this.skip()
    // Nothing here is about what a power cut leaves.
    postgres = await startPostgres({ fsync: 'off', synchronous_commit: 'off' })
  })
  after(() => postgres?.stop())

  it('take at most 5 kB each: two hops, one attempt, five events, an answer and all indexes', async () => {
    const url = await postgres.database()
    const store = await openStore({ dataDir: '', url, serverName: 'test', log: silent })
    try {
      const bytes = async () => {
        // As it is where autovacuum keeps up: dead versions of rows are not counted.
        await postgres.query('vacuum full', url)
        const [row] = await postgres.query(
          "select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
          url,
        )
        return Number(row?.['bytes'])
      }
      const before = await bytes()
      await journalTrades(store, trades)
      expect((await bytes()) - before).to.be.at.most(trades * 5_000)
    } finally {
      await store.close()
    }
  })
})
