import { openEmbedded, refuseHeldEmbedded } from './embedded.ts'
import { StoreError, type Store, type StoreLog } from './store.ts'

export interface StoreOptions {
  /** Folder of the embedded store. */
  dataDir: string
  /** `store.url`: a database that several servers share. Absent: embedded. */
  url?: string
  /** Shown to people who look at the lock file or at the database's connections. */
  serverName: string
  log: StoreLog
}

type SharedStoreOptions = Required<Omit<StoreOptions, 'dataDir'>>

/** Most servers have the embedded one, and need not load this. */
const openPostgres = async (options: SharedStoreOptions): Promise<Store> => (await import('./postgres/open.ts')).openPostgres(options)

/** By the protocol of `store.url`. Another database is a folder beside these, a line here and a writer in `transactions/journal`. */
const sharedDatabases: Readonly<Record<string, (options: SharedStoreOptions) => Promise<Store>>> = {
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
}

/** A store that several servers share is nobody's alone. @throws StoreError that names the server that has the store */
export function refuseHeldStore({ dataDir, url }: Pick<StoreOptions, 'dataDir' | 'url'>): void {
  if (url === undefined) refuseHeldEmbedded(dataDir)
}

/** Opens the store and brings its tables up to this version. @throws StoreError */
export async function openStore({ dataDir, url, serverName, log }: StoreOptions): Promise<Store> {
  if (url === undefined) return openEmbedded({ dataDir, serverName, log })
  const open = sharedDatabases[URL.canParse(url) ? new URL(url).protocol : '']
  // The URL is not shown: a password may be in it.
  if (!open)
    throw new StoreError('store.url is not the address of a PostgreSQL database: write postgres://user:password@host:5432/database.')
  return open({ url, serverName, log })
}
