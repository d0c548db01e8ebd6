import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore } from '../../core/store/open-store.ts'
import type { Store } from '../../core/store/store.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from './postgres.ts'

/** Where stores are opened: one after another, and in PostgreSQL several at once. */
export interface StorePlace {
  kind: Store['kind']
  open(): Promise<Store>
  options: { dataDir: string; url?: string }
}

const silent = { info: () => {}, warn: () => {} }

export const kinds = ['embedded', 'postgres'] as const

/** Runs the same tests on both kinds of store. */
export function onBothStores(tests: (place: () => StorePlace) => void): void {
  for (const kind of kinds) describe(kind === 'embedded' ? 'in the embedded store' : 'in PostgreSQL', () => tests(places(kind).place))
}

/** For the tests of the surrounding `describe`: `place()` is an empty one for each. */
export function places(kind: Store['kind']): { place: () => StorePlace; postgres: () => TestPostgres } {
  let postgres: TestPostgres | undefined
  let place: StorePlace | undefined
  let folder = ''
  const opened: Store[] = []

  before(async function () {
    if (kind === 'embedded') return
    if (!isPostgresInstalled) this.skip()
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-store-'))
    const options = { dataDir: folder, ...(postgres && { url: await postgres.database() }) }
    const open = async () => {
      const store = await openStore({ ...options, serverName: 'test', log: silent })
      opened.push(store)
      return store
    }
    place = { kind, options, open }
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  return { place: () => there(place), postgres: () => there(postgres) }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('It is there once the tests run.')
  return value
}
