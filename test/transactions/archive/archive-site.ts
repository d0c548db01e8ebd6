import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { createArchiveFiles, type ArchiveFiles } from '../../../core/transactions/archive-files.ts'
import { costOf as costByReceipt } from '../../../core/transactions/costs.ts'
import { paidFees } from '../../../kits/evm/receipts.ts'
import type { Json } from '../../../core/contracts/index.ts'
import { createArchiver, dayMs, type Archiver } from '../../../core/transactions/archiver.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { Journal, Lease } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { sqlLeases, type Leases } from '../../../core/transactions/leases.ts'
import type { Store } from '../../../core/store/store.ts'
import { giveLease, newEntry, next, queueOf, signed } from '../journal/entries.ts'

/** A journal with an archive, on a store whose time the test sets. */
export interface ArchiveSite {
  store: Store
  journal: Journal
  leases: Leases
  archiver: Archiver
  /** What was logged as a warning. */
  told: object[]
  /** Opens an entry and writes each version. Returns the last. */
  add(over?: Partial<Entry>, ...ends: Partial<Entry>[]): Promise<Entry>
  /** As `add`, mined and confirmed. */
  confirmed(over?: Partial<Entry>, receipt?: Json): Promise<Entry>
  /** Lets so many days pass by the store's time. */
  passDays(days: number): Promise<void>
  /** The archive's lines, file by file. */
  lines(): Promise<Record<string, Record<string, unknown>[]>>
  /** All lines. */
  archived(): Promise<Record<string, unknown>[]>
  keys(): Promise<string[]>
  stop(): Promise<void>
}

export interface ArchiveOptions {
  folder?: string
  keepDays?: number
  files?: (folder: string) => ArchiveFiles
  log?: (fields: object) => void
  serverId?: string
  onFailing?: (isFailing: boolean) => void
}

export async function archiveFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-archive-'))
  return { folder: path.join(home, 'archive'), remove: () => rm(home, { recursive: true, force: true }) }
}

/** The lines of a file; without what a killed process has left half-written at its end. */
export async function linesOf(file: string): Promise<Record<string, unknown>[]> {
  const bytes = await readFile(file)
  const text = gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

export const never = new AbortController().signal

export function archiveOn(
  store: Store,
  folder: string,
  { keepDays = 90, files = createArchiveFiles, serverId = 'server', onFailing }: ArchiveOptions = {},
): ArchiveSite {
  const told: object[] = []
  const log = { info: () => {}, warn: (fields: object) => void told.push(fields) }
  const journal = sqlJournal(store, log)
  const leases = sqlLeases({ store, serverId, serverName: serverId, log })
  const costOf = ({ landed }: Entry) => costByReceipt(landed?.receipt, { paidFees: (receipt) => paidFees(receipt, false) })
  const archiver = createArchiver({ journal, leases, costOf, files: files(folder), keepDays, log, ...(onFailing && { onFailing }) })

  async function leaseOf(entry: Entry): Promise<Lease> {
    const rail = entry.signer === undefined ? '' : `${entry.connector}/`
    return giveLease(store, { queue: `${queueOf('')}${rail}${entry.signer ?? entry.address}`, fencingToken: 1 })
  }

  const site: ArchiveSite = {
    store,
    journal,
    leases,
    archiver,
    told,
    async add(over = {}, ...ends) {
      let entry = newEntry(over)
      const lease = await leaseOf(entry)
      await journal.open([entry], lease)
      for (const end of ends) {
        entry = next(entry, end)
        if (!(await journal.write([entry], lease))) throw new Error('The version was not written.')
      }
      return entry
    },
    confirmed(over = {}, receipt: Json = { logs: ['all of it'] }) {
      const { attempts } = signed(newEntry(), `0xhash${Math.random()}`)
      const landed = { id: attempts[0]?.id ?? '', ok: true, blockNumber: 7, receipt }
      return site.add(over, { state: 'SIGNED', attempts }, { state: 'CONFIRMED', landed })
    },
    passDays: async (days) => {
      await store.write((tx) =>
        tx
          .updateTable('store_time')
          .set((eb) => ({ elapsed: eb('elapsed', '+', days * dayMs) }))
          .execute(),
      )
    },
    async lines() {
      const names: string[] = await readdir(folder).catch(() => [])
      const files = names.toSorted().map(async (name) => [name, await linesOf(path.join(folder, name))])
      return Object.fromEntries(await Promise.all(files))
    },
    archived: async () => Object.values(await site.lines()).flat(),
    keys: async () => (await store.read((db) => db.selectFrom('entries').select('key').orderBy('key').execute())).map(({ key }) => key),
    async stop() {
      await archiver.stop()
      await leases.stop()
    },
  }
  return site
}
