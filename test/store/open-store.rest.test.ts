import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { openStore } from '../../core/store/open-store.ts'
import { StoreError } from '../../core/store/store.ts'
import { programArgs } from '../program.ts'
import { onBothEmptyStores, places } from './stores.ts'

const log = { info: () => {}, warn: () => {} }

const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof StoreError ? error.message : `not a StoreError: ${String(error)}`),
  )

describe('opening a store', () => {
  onBothEmptyStores((place) => {
    it('refuses one of a newer version, and leaves it as it was', async () => {
      const store = await place().open()
      await store.write((tx) => sql`insert into kysely_migration (name, timestamp) values ('999-later', '')`.execute(tx))
      await store.close()
      expect(await refusal(place().open())).to.match(/newer version of Sluice \(it has 999-later\)/)
    })

    it('again and again finds what was written', async () => {
      for (let count = 0; count < 3; count += 1) {
        const store = await place().open()
        await store.write((tx) =>
          tx
            .insertInto('servers')
            .values({ id: String(count), name: '', alive_until: 1, migration: '' })
            .execute(),
        )
        expect(await store.read((db) => db.selectFrom('servers').selectAll().execute())).to.have.length(count + 1)
        await store.close()
      }
    })

    it('after it is closed, answers that the server is stopping', async () => {
      const store = await place().open()
      await Promise.all([store.close(), store.close()])
      expect(await store.failing()).to.equal('The store cannot be written: the server is stopping.')
      expect(await refusal(store.read((db) => db.selectFrom('lanes').selectAll().execute()))).to.match(/the server is stopping/)
    })
  })

  describe('in PostgreSQL', () => {
    const { place } = places('postgres', { isEmpty: true })

    it('by several servers at once works on an empty database', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => place().open()))
      for (const store of stores) expect(await store.failing()).to.equal(undefined)
    })

    it('with a wrong address, user, password or database fails at once, and never shows the password', async () => {
      const { url: right = '' } = place().options
      const at = async (url: string) => {
        const said = await refusal(openStore({ dataDir: '', url, serverName: 'test', log }))
        expect(said).to.not.match(/secret/)
        return said
      }
      expect(await at('postgress://postgres:secret@host/db')).to.match(/not the address of a PostgreSQL/)
      expect(await at('postgres://postgres:secret@@:::/db')).to.match(/not the address of a PostgreSQL/)
      expect(await at(right.replace(/:[^:@]+@/, ':secret@'))).to.match(/refuses its user or password/)
      expect(await at(right.replace(/[^/]+$/, 'nowhere'))).to.match(/database does not exist/)
    })
  })

  describe('in the embedded store', () => {
    const { place } = places('embedded')

    it('refuses a second process, and names the first', async () => {
      const { options, open } = place()
      // What a dead one left is no obstacle.
      writeFileSync(path.join(options.dataDir, 'sluice.holder'), JSON.stringify({ pid: 1, host: hostname(), since: 'long ago' }))
      const store = await open()
      const program = await programArgs(new URL('opening-child.ts', import.meta.url))
      const another = () => spawnSync(process.execPath, [...program, options.dataDir], { encoding: 'utf8' })
      const second = another()
      expect(second.stdout).to.match(new RegExp(`^StoreError: .* in use by process ${process.pid} on ${hostname()}, since 20`))
      expect(await refusal(open())).to.match(/in use by process/)
      // The attempts took nothing away from the first.
      expect(await store.failing()).to.equal(undefined)
      const third = another()
      expect(third.stdout).to.match(/in use by process/)

      await store.close()
      const next = another()
      expect(next.stdout).to.equal('opened\n')
    })

    it('makes files that only their owner can read', async () => {
      const { options, open } = place()
      writeFileSync(path.join(options.dataDir, 'sluice.db'), '', { mode: 0o644 })
      chmodSync(path.join(options.dataDir, 'sluice.db'), 0o644)
      await open()
      for (const name of ['sluice.db', 'sluice.db-wal', 'sluice.lock', 'sluice.holder'])
        expect(statSync(path.join(options.dataDir, name)).mode & 0o777, name).to.equal(0o600)
    })

    it('reports a damaged file or an impossible path', async () => {
      const { options, open } = place()
      writeFileSync(path.join(options.dataDir, 'sluice.db'), 'no database '.repeat(1000))
      expect(await refusal(open())).to.match(/sluice.db cannot be opened: its file is damaged/)
      const file = path.join(options.dataDir, 'file')
      writeFileSync(file, '')
      expect(await refusal(openStore({ dataDir: path.join(file, 'none'), serverName: 'test', log }))).to.match(/cannot be opened/)
      expect(await refusal(openStore({ dataDir: file, serverName: 'test', log }))).to.match(/cannot be opened/)
    })

    it('leaves one file when it is closed', async () => {
      const { options, open } = place()
      await (await open()).close()
      expect(existsSync(path.join(options.dataDir, 'sluice.db-wal'))).to.equal(false)
      expect(readFileSync(path.join(options.dataDir, 'sluice.db')).subarray(0, 15).toString()).to.equal('SQLite format 3')
    })
  })
})
