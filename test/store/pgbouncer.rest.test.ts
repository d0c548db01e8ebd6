import { expect } from 'chai'
import { openStore } from '../../core/store/open-store.ts'
import { StoreError } from '../../core/store/store.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { newEntry, giveLease } from '../transactions/journal/entries.ts'
import { isPgBouncerInstalled, startPgBouncer } from './pgbouncer.ts'
import { places } from './stores.ts'

describe('PostgreSQL behind PgBouncer', () => {
  const { place, postgres } = places('postgres')
  before(function () {
    if (!isPgBouncerInstalled) this.skip()
  })

  const log = { info: () => {}, warn: () => {} }
  const opened = (url: string) => openStore({ dataDir: '', url, serverName: 'test', log })

  async function refusalIn(mode: 'transaction' | 'statement', settings?: Readonly<Record<string, string>>): Promise<string> {
    const pooler = await startPgBouncer(postgres(), mode, settings)
    try {
      const store = await opened(pooler.urlOf(place().options.url ?? ''))
      await store.close()
      return 'opened'
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return error.message
    } finally {
      await pooler.stop()
    }
  }

  it('in session mode works as PostgreSQL does', async () => {
    const pooler = await startPgBouncer(postgres(), 'session')
    const store = await opened(pooler.urlOf(place().options.url ?? ''))
    try {
      const journal = sqlJournal(store)
      const lease = await giveLease(store)
      const entries = Array.from({ length: 20 }, () => newEntry())
      await Promise.all(entries.map((entry) => journal.open([entry], lease)))
      expect(await journal.unfinished({ chain: 'ethereum', network: 'local' })).to.have.length(20)
      expect(await store.failing()).to.equal(undefined)
    } finally {
      await store.close()
      await pooler.stop()
    }
  })

  it('in transaction mode is refused at once, with the setting to change', async () => {
    for (const server_round_robin of ['0', '1'])
      expect(await refusalIn('transaction', { server_round_robin })).to.equal(
        'The store in PostgreSQL cannot be opened: store.url leads to a pooler in transaction mode, and leases and time limits need a session (for PgBouncer: pool_mode = session). Look at store.url.',
      )
  })

  it('in statement mode is refused, with the words of PgBouncer', async () => {
    expect(await refusalIn('statement')).to.match(
      /refuses the connection\. .* says: "transaction blocks not allowed in statement pooling mode/,
    )
  })
})
