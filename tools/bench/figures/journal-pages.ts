import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql, type RawBuilder } from 'kysely'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { bodyColumns } from '../../../core/transactions/journal/entry-rows.ts'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { isPostgresInstalled, startPostgres } from '../../../test/store/postgres.ts'
import { growJournal } from '../../../test/transactions/journal/grown-journal.ts'
import { ms, times, percentile, type Row } from '../measuring.ts'

const pages = 40
const pageSize = 100
const silent = { info() {}, warn() {} }
const rarePair = 'rare-usdc'

/**
 * Pages of 100 of `/transactions`, by every filter that bots and operators use, of as many trades in either store. Beside them the rows of the index
 * alone, with the columns that a page reads, by one statement a page, in the same store and round. They are not unpacked.
 */
export async function journalPages(trades: number): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const postgres = isPostgresInstalled ? await startPostgres({ fsync: 'off', synchronous_commit: 'off' }) : undefined
  try {
    const rows: Row[] = []
    for (const url of [undefined, ...(postgres ? [await postgres.database()] : [])]) {
      const store = await openStore({ dataDir: folder, serverName: 'bench', log: silent, ...(url !== undefined && { url }) })
      await growJournal(store, trades, { distinct: 10_000 })
      if (url !== undefined) await postgres?.query('vacuum analyze', url)
      rows.push(...(await pageTimes(url === undefined ? 'embedded' : 'PostgreSQL', store)))
      await store.close()
    }
    return rows
  } finally {
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A filter, and the condition that the best index of it has; absent where it finds single ones. */
interface PageQuery {
  readonly name: string
  readonly filter: EntryFilter
  readonly bare?: RawBuilder<unknown>
}

async function pageTimes(kind: string, store: Store): Promise<Row[]> {
  const { entries } = await sqlJournal(store).list({ limit: 500 })
  const some = entries[entries.length - 1]
  if (!some) return []
  await makeRare(store, some)
  const rows: Row[] = []
  for (const each of queriesOf(some, new Set(entries.map(({ address }) => address.toLowerCase())))) {
    const listed = await timesOf(each.filter, async (filter) => {
      const { entries: found, nextCursor } = await sqlJournal(store).list({ ...filter, shownOnly: true })
      return { count: found.length, nextCursor }
    })
    const { bare } = each
    const reference = bare && (await timesOf(each.filter, ({ cursor }) => bareList(store, bare, cursor)))
    const [p50, p90] = [percentile(listed, 0.5), percentile(listed, 0.9)]
    rows.push({
      name: `${kind}: by ${each.name}`,
      value: `p50 ${ms(p50)}, p90 ${ms(p90)}`,
      ...(reference && { reference: `p90 ${ms(percentile(reference, 0.9))}`, ratio: times(p90, percentile(reference, 0.9)) }),
    })
  }
  return rows
}

/** A few trades of the busiest wallets are of a pair that no other is of, old ones. */
async function makeRare(store: Store, { address }: Entry): Promise<void> {
  const oldest = await store.read((db) =>
    db.selectFrom('entries').select('key').where('address', '=', address.toLowerCase()).orderBy('key').limit(5).execute(),
  )
  const keys = oldest.map(({ key }) => key)
  await store.write((db) => db.updateTable('entries').set({ pair: rarePair }).where('key', 'in', keys).execute())
}

function queriesOf({ chain, network, address, requestId, idempotencyKey = '' }: Entry, wallets: ReadonlySet<string>): readonly PageQuery[] {
  const onNetwork = sql`chain = ${chain} and network = ${network}`
  const ofWallet = sql`address = ${address.toLowerCase()} and ${onNetwork}`
  const state = 'CONFIRMED'
  return [
    { name: 'nothing', filter: {}, bare: sql`1 = 1` },
    { name: 'chain', filter: { chain } },
    { name: 'chain, network, state', filter: { chain, network, state }, bare: sql`${onNetwork} and state = ${state}` },
    { name: 'a state that nothing is in', filter: { state: 'DROPPED' } },
    { name: 'wallet', filter: { chain, network, address }, bare: ofWallet },
    { name: 'the wallets of a certificate', filter: { addresses: wallets } },
    { name: 'pair', filter: { pair: 'dai-wbtc' }, bare: sql`pair = ${'dai-wbtc'}` },
    { name: 'a rare pair', filter: { pair: rarePair }, bare: sql`pair = ${rarePair}` },
    { name: 'wallet and pair', filter: { chain, network, address, pair: 'dai-wbtc' }, bare: ofWallet },
    { name: 'wallet and a rare pair', filter: { chain, network, address, pair: rarePair }, bare: sql`pair = ${rarePair}` },
    { name: 'the wallets of a certificate and a rare pair', filter: { addresses: wallets, pair: rarePair }, bare: sql`pair = ${rarePair}` },
    { name: 'client', filter: { client: 'client' }, bare: sql`client = ${'client'}` },
    { name: 'connector', filter: { connector: 'uniswap' }, bare: sql`connector = ${'uniswap'}` },
    { name: 'a kind that is rare', filter: { kind: 'approve' } },
    { name: 'requestId', filter: { requestId }, bare: sql`request_id = ${requestId}` },
    { name: 'idempotencyKey', filter: { idempotencyKey }, bare: sql`idempotency_key = ${idempotencyKey}` },
  ]
}

type ReadPage = (filter: EntryFilter) => Promise<{ readonly count: number; readonly nextCursor?: string | undefined }>

/** From the newest on, and from the beginning again where it ends. */
async function timesOf(filter: EntryFilter, read: ReadPage): Promise<readonly number[]> {
  const taken: number[] = []
  let cursor: string | undefined
  for (let count = 0; count < pages; count += 1) {
    const startedAt = performance.now()
    const page = await read({ ...filter, limit: pageSize, ...(cursor !== undefined && { cursor }) })
    taken.push(performance.now() - startedAt)
    cursor = page.nextCursor
  }
  return taken
}

const columns = sql.join(bodyColumns.map((each) => sql.ref(each)))

async function bareList(store: Store, condition: RawBuilder<unknown>, cursor: string | undefined) {
  const before = cursor === undefined ? sql`` : sql`and key < ${cursor}`
  const { rows } = await store.read((db) =>
    sql<{ key: string }>`select ${columns} from entries where ${condition} ${before} order by key desc limit ${sql.lit(pageSize)}`.execute(
      db,
    ),
  )
  return { count: rows.length, nextCursor: rows.length === pageSize ? rows.at(-1)?.key : undefined }
}
