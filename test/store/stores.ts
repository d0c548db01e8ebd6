import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore } from '../../core/store/open-store.ts'
import type { Store } from '../../core/store/store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from './postgres.ts'
import { usedDatabases, type UsedDatabases } from './used-databases.ts'

/** Where stores are opened: one after another, and in PostgreSQL several at once. */
export interface StorePlace {
  kind: Store['kind']
  open(): Promise<Store>
  options: { dataDir: string; url?: string }
}

const silent = { info: () => {}, warn: () => {} }

let shared: TestPostgres | undefined

/**
 * One PostgreSQL for all files of a run, with databases of their own. It ends before there is anything to vacuum. Where it does not start, the
 * next file tries again.
 */
export const sharedPostgres = async (): Promise<TestPostgres> =>
  (shared ??= await startPostgres({
    autovacuum: 'off',
    // The machine does not lose its power: nobody waits for the disk.
    fsync: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
  }))

/** Its databases that have all tables. */
let migrated: UsedDatabases | undefined

async function migrate(postgres: TestPostgres): Promise<UsedDatabases> {
  const url = await postgres.database()
  await (await openStore({ dataDir: tmpdir(), url, serverName: 'test', log: silent })).close()
  return usedDatabases(postgres, url)
}

after(() => shared?.stop())

export const kinds = ['embedded', 'postgres'] as const

/** Runs the same tests on both kinds of store. */
export function onBothStores(tests: (place: () => StorePlace) => void, options?: PlaceOptions): void {
  for (const kind of kinds)
    describe(kind === 'embedded' ? 'in the embedded store' : 'in PostgreSQL', () => tests(places(kind, options).place))
}

/** The same where they make the tables. */
export const onBothEmptyStores = (tests: (place: () => StorePlace) => void): void => onBothStores(tests, { isEmpty: true })

interface PlaceOptions {
  /** In PostgreSQL it has no tables yet: to make them each time takes longer than most tests. */
  readonly isEmpty?: boolean
  /** PostgreSQL may be ended, stopped or set otherwise: nobody else has it. */
  readonly ofItsOwn?: boolean
}

/** For the tests of the surrounding `describe`: `place()` is another one for each, without entries. */
export function places(
  kind: Store['kind'],
  { isEmpty = false, ofItsOwn = false }: PlaceOptions = {},
): { place: () => StorePlace; postgres: () => TestPostgres } {
  let postgres: TestPostgres | undefined
  let place: StorePlace | undefined
  let folder = ''
  let leave: () => void = () => {}
  const opened: Store[] = []

  before(async function () {
    if (kind === 'embedded') return
    if (!isPostgresInstalled) this.skip()
    postgres = await (ofItsOwn ? startPostgres() : sharedPostgres())
  })
  after(async () => {
    if (ofItsOwn) await postgres?.stop()
  })

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    const used = postgres && !isEmpty && !ofItsOwn ? (migrated ??= await migrate(postgres)) : undefined
    const url = used ? await used.take() : await postgres?.database()
    const options = { dataDir: folder, ...(url !== undefined && { url }) }
    const open = async () => {
      const store = await openStore({ ...options, serverName: 'test', log: silent })
      opened.push(store)
      return store
    }
    place = { kind, options, open }
    leave = () => void (url !== undefined && used?.giveBack(url))
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    leave()
    await rm(folder, { recursive: true, force: true })
  })

  return { place: () => there(place), postgres: () => there(postgres) }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('It is there once the tests run.')
  return value
}
