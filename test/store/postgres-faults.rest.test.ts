import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { postgresPool } from '../../core/store/postgres/connection.ts'
import { postgresFaults } from '../../core/store/postgres/faults.ts'
import { createSqlStore } from '../../core/store/sql-store.ts'
import { StoreUnavailable, type Store } from '../../core/store/store.ts'
import type { Tables } from '../../core/store/tables.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Lease } from '../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry, next, signed } from '../transactions/journal/entries.ts'
import { until } from '../transactions/site.ts'
import { places } from './stores.ts'

describe('a database in trouble', () => {
  const { place, postgres } = places('postgres', { ofItsOwn: true })
  const works = async (store: Store) => expect(await store.failing()).to.equal(undefined)

  /** Signs until told to stop; what was acknowledged, what certainly was not, and what nobody knows. */
  function writing(store: Store, lease: Lease) {
    const journal = sqlJournal(store)
    const outcome = { kept: new Set<string>(), refused: new Set<string>(), uncertain: new Map<string, Entry>() }
    const over = new AbortController()
    const ended = (async () => {
      while (!over.signal.aborted) {
        const entry = newEntry()
        try {
          await journal.open([entry], lease)
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error
          await sleep(10)
          continue
        }
        try {
          await journal.write([signed(entry)], lease)
          outcome.kept.add(entry.key)
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error
          if (error.uncertain) outcome.uncertain.set(entry.key, entry)
          else outcome.refused.add(entry.key)
        }
      }
    })()
    const stop = () => {
      over.abort()
      return ended
    }
    return { outcome, stop }
  }

  it('killed: definite errors, nothing acknowledged is lost, and a write settles what is uncertain', async () => {
    const store = await place().open()
    const lease = await giveLease(store)
    const journal = sqlJournal(store)
    const writers = Array.from({ length: 4 }, () => writing(store, lease))
    for (let kills = 0; kills < 3; kills += 1) {
      await sleep(100 + Math.random() * 100)
      await postgres().kill()
      expect(await store.failing()).to.match(/^The store cannot be written: (no database listens|the connection)/)
      // Where nobody could be asked, nothing is uncertain.
      const refused = await journal.open([newEntry()], lease).catch((error: unknown) => error)
      expect(refused).to.include({ uncertain: false })
      await postgres().restart()
      await works(store)
    }
    // Each has had its turn, however slow the machine is.
    await until('each has kept something', async () => writers.every(({ outcome }) => outcome.kept.size > 0))
    await Promise.all(writers.map(({ stop }) => stop()))
    for (const { outcome } of writers) {
      for (const key of outcome.kept) expect((await journal.read(key))?.state, key).to.equal('SIGNED')
      for (const key of outcome.refused) expect((await journal.read(key))?.state, key).to.equal('QUEUED')
      for (const [key, entry] of outcome.uncertain) {
        const givenUp = await journal.write([next(entry, { state: 'EXPIRED' })], lease)
        expect((await journal.read(key))?.state, key).to.equal(givenUp ? 'EXPIRED' : 'SIGNED')
      }
      expect(outcome.kept.size).to.be.greaterThan(0)
    }
  })

  it('with a full disk: definite errors, nothing acknowledged is lost, and it works again when there is space', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    const store = await place().open()
    const { url } = place().options
    const [shown] = await postgres().query('show data_directory')
    const { uid, gid } = statSync(String(shown?.['data_directory']))
    // The rest of the database is elsewhere: without room for its own log it would end, and come back when there is some.
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-tablespace-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=2m,uid=${uid},gid=${gid},mode=700`, 'none', folder])
    try {
      await postgres().query(`create tablespace small location '${folder}'`)
      await postgres().query('alter table entries set tablespace small', url)
      const ballast = path.join(folder, 'ballast')
      writeFileSync(ballast, Buffer.alloc(1_000_000))
      const journal = sqlJournal(store)
      const lease = await giveLease(store)
      const kept: Entry[] = []
      const error = await (async () => {
        for (;;) {
          const entry = newEntry({ about: randomBytes(1_000).toString('hex') })
          await journal.open([entry], lease)
          kept.push(entry)
        }
      })().catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(StoreUnavailable)
      expect(error).to.include({ uncertain: false, retryAfterSeconds: 2 })
      expect(String(error)).to.match(/the database's disk is full/)
      const unfinished = () => journal.unfinished({ chain: 'ethereum', network: 'local' })
      expect(await unfinished()).to.deep.equal(kept)
      const full = "The store cannot be written: the database's disk is full."
      expect([await store.failing(), await store.failing()]).to.deep.equal([full, full])

      rmSync(ballast)
      // Where nobody trades meanwhile, too.
      await works(store)
      await journal.open([newEntry()], lease)
      expect(await unfinished()).to.have.length(kept.length + 1)
      await works(store)
    } finally {
      await store.close()
      await postgres().query('alter table entries set tablespace pg_default', url)
      await postgres().query('drop tablespace small')
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    }
  })

  it('hanging: errors after a few seconds, until it answers again', async () => {
    const store = await place().open()
    const lease = await giveLease(store)
    await postgres().pause()
    const [written, probed] = await Promise.all([
      sqlJournal(store)
        .open([newEntry()], lease)
        .catch((error: unknown) => error),
      store.failing(),
    ])
    await postgres().resume()
    expect(written).to.be.instanceOf(StoreUnavailable)
    expect(probed).to.match(/does not answer/)
    await works(store)
    await sqlJournal(store).open([newEntry()], lease)
  })

  it('read-only: reported and refused, until it is writable again', async () => {
    const store = await place().open()
    const lease = await giveLease(store)
    await postgres().query('alter system set default_transaction_read_only = on')
    await postgres().query('select pg_reload_conf()')
    try {
      let probed: string | undefined
      // The database reads its configuration when it comes to it.
      await until('it is seen', async () => (probed = await store.failing()) !== undefined)
      expect(probed).to.equal('The store cannot be written: the database may only be read (is it a standby?).')
      const error = await sqlJournal(store)
        .open([newEntry()], lease)
        .catch((reason: unknown) => reason)
      expect(error).to.include({ uncertain: false })
    } finally {
      await resetReadOnly()
    }
    await until('it is over', async () => (await store.failing()) === undefined)
    await works(store)
  })

  /** What a session keeps from its beginning, and what it then refuses. */
  const sessions: Readonly<Record<string, string>> = {
    'may only read': 'default_transaction_read_only = on',
    'has another role': 'role = nobody_writes',
    'looks into another schema': 'search_path = nowhere',
  }
  for (const [what, setting] of Object.entries(sessions))
    it(`whose session ${what}: a connection that began so is used for one write at most`, async () => {
      const { url = '' } = place().options
      const name = new URL(url).pathname.slice(1)
      await place().open()
      await postgres().query('drop role if exists nobody_writes')
      await postgres().query('create role nobody_writes')
      await postgres().query(`alter database ${name} set ${setting}`)
      const log: object[] = []
      const warn = (fields: object) => void log.push(fields)
      const store = createSqlStore({
        kind: 'postgres',
        db: new Kysely<Tables>({
          dialect: new PostgresDialect({ pool: postgresPool({ url, serverName: 'test', log: { info: () => {}, warn } }) }),
        }),
        log: { info: () => {}, warn },
        faults: postgresFaults,
        isServerAlive: () => sql<boolean>`false`,
        openLeases: () => {
          throw new Error('None are taken.')
        },
      })
      const at = () => store.writeOnce((db) => db.updateTable('probes').set({ tries: 1 }).execute())
      try {
        const first = await Promise.allSettled(Array.from({ length: 30 }, at))
        expect(first.filter(({ status }) => status === 'fulfilled')).to.have.length(0)
        expect(log, 'the words of the database').to.satisfy((lines: { says?: string }[]) => lines.some(({ says }) => says !== undefined))
        await postgres().query(`alter database ${name} reset all`)
        const then = await Promise.allSettled(Array.from({ length: 30 }, at))
        expect(then.filter(({ status }) => status === 'rejected')).to.have.length(0)
      } finally {
        await postgres().query(`alter database ${name} reset all`)
        await store.close()
      }
    })

  async function resetReadOnly(): Promise<void> {
    // A statement of its own each: ALTER SYSTEM stands in no transaction.
    await postgres().query("select set_config('default_transaction_read_only', 'off', false)")
    await postgres().query('alter system reset default_transaction_read_only')
    await postgres().query('select pg_reload_conf()')
  }

  it('ending every connection: new ones are made', async () => {
    const store = await place().open()
    await Promise.all(Array.from({ length: 5 }, () => works(store)))
    await postgres().query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'sluice%'")
    await until('it is over', async () => (await store.failing()) === undefined)
    await works(store)
  })

  it('with an error that the transaction ignored: nothing is written, and it is an error', async () => {
    const store = await place().open()
    const written = store.write(async (tx) => {
      await tx.insertInto('servers').values({ id: 'one', name: '', alive_until: 1, migration: '' }).execute()
      await sql`select nothing`.execute(tx).catch(() => {})
    })
    expect(await written.catch((error: unknown) => error)).to.include({ uncertain: false })
    expect(await store.read((db) => db.selectFrom('servers').selectAll().execute())).to.deep.equal([])
  })

  it('undoing one of two in a deadlock: that one runs again', async () => {
    const store = await place().open()
    const rise = (id: string) => ({ id, name: '', alive_until: 1, migration: '' })
    await store.write((tx) =>
      tx
        .insertInto('servers')
        .values([rise('a'), rise('b')])
        .execute(),
    )
    // Both have their connections: the first waits for the other no longer than a transaction may.
    await Promise.all([works(store), works(store)])
    const met: string[] = []
    const bothIn = async (first: string, second: string) =>
      store.write(async (tx) => {
        const update = (id: string) =>
          tx
            .updateTable('servers')
            .set(({ eb }) => ({ alive_until: eb('alive_until', '+', 1) }))
            .where('id', '=', id)
            .execute()
        await update(first)
        met.push(first)
        for (let tries = 0; met.length < 2 && tries < 500; tries += 1) await sleep(5)
        await update(second)
      })
    await Promise.all([bothIn('a', 'b'), bothIn('b', 'a')])
    // On a slow machine both may be undone, and meet again.
    expect(met.length).to.be.at.least(3)
    const rows = await store.read((db) => db.selectFrom('servers').select('alive_until').execute())
    expect(rows).to.deep.equal([{ alive_until: 3 }, { alive_until: 3 }])
  })
})
