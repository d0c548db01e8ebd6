import { openEmbedded } from './embedded/open.ts'
import { openPostgres } from './postgres/open.ts'
import type { Store } from './store.ts'

export interface StoreLog {
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
}

interface StoreOptions {
  /** Where the embedded store is. */
  dataDir: string
  /** Of PostgreSQL, for several servers; absent: embedded. */
  url?: string
  /** For people: who has the store, whose connection it is. */
  serverName: string
  log: StoreLog
}

/** Opens the store and brings its tables up to this version. @throws StoreError */
export async function openStore({ dataDir, url, serverName, log }: StoreOptions): Promise<Store> {
  return url === undefined ? openEmbedded({ dataDir, serverName }) : openPostgres({ url, serverName, log })
}

export type { Store } from './store.ts'
export { StoreError } from './store.ts'
export { StoreUnavailable } from './store.ts'
export type { Tables } from './tables.ts'
