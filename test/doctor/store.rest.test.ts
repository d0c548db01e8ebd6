import { mkdir, mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { examineStore } from '../../core/cli/doctor-store.ts'
import { openStore } from '../../core/store/open-store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../store/postgres.ts'

const log = { info: () => {}, warn: () => {} }

describe('sluice doctor, of the store', function () {
  let home: string
  let settings: Settings
  const dataDir = () => settings.data.dir

  beforeEach(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'sluice-doctor-'))
    await mkdir(path.join(home, 'conf'))
    settings = loadSettings({ confDir: path.join(home, 'conf'), env: {}, flags: {} })
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  const stored = () => openStore({ dataDir: dataDir(), serverName: 'test', log })

  describe('embedded', () => {
    it('creates no store where there is none yet', async () => {
      expect(await examineStore(settings)).to.deep.equal([{ part: 'store', state: 'good', what: 'None yet: the first start creates it.' }])
      expect(await readdir(home)).to.deep.equal(['conf'])
    })

    it('finds an intact store, and leaves it unchanged', async () => {
      await (await stored()).close()
      const [found] = await examineStore(settings)
      expect(found?.state, found?.what).to.equal('good')
      expect(found?.what).to.match(/sluice\.db is whole and can be written\.$/)
      await (await stored()).close()
    })

    it('recognises that a server runs on the store', async () => {
      const store = await stored()
      const [found] = await examineStore(settings)
      expect(found).to.include({ state: 'good' })
      expect(found?.what).to.match(/^A server runs on it/)
      expect(await store.failing()).to.equal(undefined)
      await store.close()
    })

    it('reports a damaged file', async () => {
      await (await stored()).close()
      await truncate(path.join(dataDir(), 'sluice.db'), 5000)
      const [found] = await examineStore(settings)
      expect(found?.state, found?.what).to.equal('bad')
      expect(found?.what).to.match(/damaged/)
    })
  })

  ;(isPostgresInstalled ? describe : describe.skip)('PostgreSQL', () => {
    let postgres: TestPostgres
    before(async () => {
      postgres = await startPostgres({ fsync: 'off' })
    })
    after(() => postgres?.stop())

    it('reports settings that lose acknowledged writes, and creates no table', async () => {
      const url = await postgres.database()
      const findings = await examineStore({ ...settings, store: { url } })
      expect(findings.map(({ state, what }) => `${state}: ${what}`)).to.deep.equal([
        'bad: fsync is off: after a power failure it loses what it acknowledged.',
      ])
      expect(await postgres.query("select 1 from information_schema.tables where table_schema = 'public'", url)).to.deep.equal([])
    })

    it('reports a user who may not create tables', async () => {
      const url = new URL(await postgres.database())
      await postgres.query(`create role stranger login password '${postgres.password}'`)
      url.username = 'stranger'
      const findings = await examineStore({ ...settings, store: { url: url.href } })
      expect(findings.map(({ what }) => what)).to.include('The user may not create tables.')
    })

    it('reports a wrong password and an unreachable database, without showing the password', async () => {
      const wrong = new URL(postgres.url)
      wrong.password = 'not-the-password'
      const away = new URL(postgres.url)
      away.port = '1'
      for (const [url, reason] of [
        [wrong, /refuses its user or password/],
        [away, /no database listens at its address/],
      ] as const) {
        const [found] = await examineStore({ ...settings, store: { url: url.href } })
        expect(found?.state).to.equal('bad')
        expect(found?.what).to.match(reason).and.not.to.include(url.password)
      }
    })
  })
})
