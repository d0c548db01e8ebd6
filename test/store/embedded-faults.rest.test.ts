import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { openStore } from '../../core/store/open-store.ts'
import { StoreUnavailable, type Store } from '../../core/store/store.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry } from '../transactions/journal/entries.ts'
import { places } from './stores.ts'

const silent = { info: () => {}, warn: () => {} }

/** Journals until it is refused; gives what was acknowledged, and the error. */
async function fill(store: Store): Promise<{ kept: Entry[]; lost: Entry; error: unknown }> {
  const journal = sqlJournal(store)
  const lease = await giveLease(store).catch(() => ({ queue: '', fencingToken: 0 }))
  const kept: Entry[] = []
  for (;;) {
    const entry = newEntry({ about: 'x'.repeat(2_000) })
    try {
      await journal.open([entry], lease)
      kept.push(entry)
    } catch (error) {
      return { kept, lost: entry, error }
    }
  }
}

async function expectJust(store: Store, kept: readonly Entry[]): Promise<void> {
  expect(await sqlJournal(store).unfinished({ chain: 'ethereum', network: 'local' })).to.deep.equal(kept)
  expect(await store.read((db) => db.selectFrom('events').select('id').execute())).to.have.length(kept.length)
}

describe('an embedded store with disk trouble', () => {
  const { place } = places('embedded')

  /** A folder on a disk of a megabyte. */
  async function withSmallDisk(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = path.join(place().options.dataDir, 'small')
    mkdirSync(folder)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', folder])
    try {
      await work(folder)
    } finally {
      execFileSync('umount', ['-l', folder])
    }
  }

  it('full: a definite error, nothing acknowledged is lost, and it works again when there is space', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    await withSmallDisk(async (folder) => {
      writeFileSync(path.join(folder, 'ballast'), Buffer.alloc(300_000))
      const store = await openStore({ dataDir: folder, serverName: 'test', log: silent })
      const { kept, lost, error } = await fill(store)
      expect(kept.length).to.be.greaterThan(2)
      expect(error).to.be.instanceOf(StoreUnavailable)
      expect(error).to.include({ uncertain: false, retryAfterSeconds: 2 })
      expect(String(error)).to.match(/the disk is full/)
      expect(await store.failing()).to.equal('The store cannot be written: the disk is full.')
      await expectJust(store, kept)

      rmSync(path.join(folder, 'ballast'))
      expect(await store.failing()).to.equal(undefined)
      await sqlJournal(store).open([lost], await giveLease(store))
      await expectJust(store, [...kept, lost])
      await store.close()
    })
  })

  it('full when it is opened: has what was kept, refuses to write, and works again when there is space', async function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    await withSmallDisk(async (folder) => {
      const open = () => openStore({ dataDir: folder, serverName: 'test', log: silent })
      const first = await open()
      const entry = newEntry()
      await sqlJournal(first).open([entry], await giveLease(first))
      await first.close()
      const ballast = path.join(folder, 'ballast')
      expect(() => writeFileSync(ballast, Buffer.alloc(1_000_000))).to.throw(/ENOSPC/)

      const store = await open()
      await expectJust(store, [entry])
      expect(await store.failing()).to.equal('The store cannot be written: the disk is full.')
      expect(await open().catch(String)).to.match(/in use by another process/)

      rmSync(ballast)
      expect(await store.failing()).to.equal(undefined)
      await store.close()
    })
  })

  it('refusing to write: an uncertain error that the next write settles, and it works again', async function () {
    if (process.platform !== 'linux') this.skip()
    const store = await place().open()
    const size = statSync(path.join(place().options.dataDir, 'sluice.db-wal')).size
    const limit = (most: string) => execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${most}:`])
    limit(String(size + 200_000))
    try {
      const { kept, error } = await fill(store)
      expect(kept.length).to.be.greaterThan(2)
      expect(error).to.include({ uncertain: true })
      expect(String(error)).to.match(/the disk refuses to read or write/)
      expect(await store.failing()).to.match(/the disk refuses/)
      await expectJust(store, kept)

      limit('unlimited')
      expect(await store.failing()).to.equal(undefined)
      const { length } = kept
      await sqlJournal(store).open([newEntry()], await giveLease(store))
      expect(await sqlJournal(store).unfinished({ chain: 'ethereum', network: 'local' })).to.have.length(length + 1)
      // It is no different for who opens it again.
      await store.close()
      const again = await place().open()
      expect(await sqlJournal(again).unfinished({ chain: 'ethereum', network: 'local' })).to.have.length(length + 1)
    } finally {
      limit('unlimited')
    }
  })

  for (const name of ['sluice.db', 'sluice.db-wal'])
    it(`whose ${name} was moved away: refuses until it is back`, async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const file = path.join(place().options.dataDir, name)
      renameSync(file, `${file}.away`)
      const error = await sqlJournal(store)
        .open([newEntry()], lease)
        .catch((reason: unknown) => reason)
      expect(error).to.include({ uncertain: false })
      expect(await store.failing()).to.match(/moved or removed/)
      renameSync(`${file}.away`, file)
      expect(await store.failing()).to.equal(undefined)
      await sqlJournal(store).open([newEntry()], lease)
    })

  it('ignored by the work of a transaction: writes nothing of it', async function () {
    if (process.platform !== 'linux') this.skip()
    const store = await place().open()
    const limit = (most: string) => execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${most}:`])
    const row = (id: string, name: string) => ({ id, name, alive_until: 1, migration: '' })
    try {
      const written = store.write(async (tx) => {
        await tx.insertInto('servers').values(row('before', '')).execute()
        limit('100000')
        // More than fits the cache, so that it goes to the disk before the commit.
        await tx
          .insertInto('servers')
          .values(row('large', 'x'.repeat(30_000_000)))
          .execute()
          .catch(() => {})
        limit('unlimited')
        await tx.insertInto('servers').values(row('after', '')).execute()
      })
      expect(await written.catch((error: unknown) => error)).to.be.instanceOf(StoreUnavailable)
      expect(await store.read((db) => db.selectFrom('servers').selectAll().execute())).to.deep.equal([])
      expect(await store.failing()).to.equal(undefined)
    } finally {
      limit('unlimited')
    }
  })
})
