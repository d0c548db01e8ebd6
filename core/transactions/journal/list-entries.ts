// Lists entries newest first: rows of one index that ends with the key, of which the database says which ones match. It looks at so many at a time that other
// work has its turn in between, however large the journal is.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { addressKey, canonicalHash } from '../../base/addresses.ts'
import { hashBytes } from '../../store/compact.ts'
import { pairNames } from '../../store/entry-filters.ts'
import type { Store } from '../../store/store.ts'
import { firstKeyAt } from '../submit-request.ts'
import { bodyColumns, type BodyRow } from './entry-rows.ts'
import type { EntryFilter, OnRail } from './journal.ts'
import { withKnownAliases } from './pair-names.ts'

type Reader = Pick<Store, 'read' | 'kind'>
export type ListedTable = 'entries' | 'archived'

/** Rows of an index that one statement looks at: about a millisecond. */
const rowsAtOnce = 500
/** Bodies that are read before other work has its turn, not decoded: half a millisecond. */
const bodiesAtOnce = 125
/** Parts of an index whose rows one statement reads. */
const partsAtOnce = 50
/** With more, each with rows that do not match, another index is faster. */
const manyParts = 16

/** @returns what is read of the newest entries that match, at most `limit` */
export async function listEntries(store: Reader, filter: EntryFilter, limit: number): Promise<readonly BodyRow[]> {
  const keys: string[] = []
  for await (const page of pagesOfKeys(store, 'entries', filter, limit)) {
    keys.push(...page.keys)
    if (keys.length >= limit) break
  }
  const rows: BodyRow[] = []
  const wanted = keys.slice(0, limit)
  for (let start = 0; start < wanted.length; start += bodiesAtOnce) {
    if (start > 0) await nextTurn()
    rows.push(...(await readBodies(store, 'entries', wanted.slice(start, start + bodiesAtOnce))))
  }
  return rows
}

/** In the order of the keys. */
export async function readBodies({ read }: Reader, table: ListedTable, keys: readonly string[]): Promise<readonly BodyRow[]> {
  if (keys.length === 0) return []
  const rows = await read((db) => db.selectFrom(table).select(bodyColumns).where('key', 'in', keys).execute())
  const rowOf = new Map(rows.map((row) => [row.key, row]))
  return keys.flatMap((key) => rowOf.get(key) ?? [])
}

interface KeyPage {
  /** Of entries that match, newest first. */
  readonly keys: readonly string[]
  /** All entries down to this one were looked at; absent: there are no others. */
  readonly last?: string
  /** Rows that were looked at. */
  readonly looked: number
}

/**
 * Pages of keys until there are no others. An archived entry has no state, nonce and rail in columns: they are not compared.
 * @param limit keys that are wanted of all pages
 */
export async function* pagesOfKeys(
  store: Reader,
  table: ListedTable,
  asked: EntryFilter,
  limit: number,
): AsyncGenerator<KeyPage, void, void> {
  const filter = await withKnownAliases(store, table, asked)
  const search = await searchFor(store, table, filter)
  // Keys sort by time.
  const lowest = filter.from === undefined ? '' : firstKeyAt(filter.from)
  const end = filter.to === undefined ? undefined : firstKeyAt(filter.to)
  let before = end === undefined || (filter.cursor !== undefined && filter.cursor < end) ? filter.cursor : end
  // Most often all of an index match.
  for (let count = limit; ; count = search.matches ? rowsAtOnce : limit) {
    const rows = await newestRows(store, table, search, { before, lowest, count })
    const keys = rows.filter(({ wanted }) => wanted === 1).map(({ key }) => key)
    before = rows.at(-1)?.key
    const page = { keys, looked: rows.length }
    if (rows.length < count || before === undefined) return yield page
    yield { ...page, last: before }
    await nextTurn()
  }
}

interface Row {
  readonly key: string
  readonly wanted: number
}

/** What columns are equal to. */
type Part = Readonly<Record<string, string | number>>

interface Search {
  /** All of the same columns, which an index has before the key. No entry is of two of them. */
  readonly parts: readonly Part[]
  /** SQL: what such an index says of all of its rows. */
  readonly indexed?: RawBuilder<unknown>
  /** SQL: what their rows have to be besides; absent: all of them match. */
  readonly matches?: RawBuilder<unknown>
}

/** Newest first, of all parts together. */
async function newestRows(
  { read, kind }: Reader,
  table: ListedTable,
  { parts, indexed = sql`1 = 1`, matches = sql`1 = 1` }: Search,
  { before, lowest, count }: { before: string | undefined; lowest: string; count: number },
): Promise<readonly Row[]> {
  const end = before === undefined ? sql`` : sql`and key < ${before}`
  let newest: readonly Row[] = []
  for (let start = 0; start < parts.length; start += partsAtOnce) {
    if (start > 0) await nextTurn()
    const from = newest[count - 1]?.key ?? lowest
    const rowsOf = (part: Readonly<Record<string, unknown>>) =>
      sql`select key, case when ${matches} then 1 else 0 end as wanted from ${sql.table(table)}
        where ${equals(part)} and ${indexed} and key >= ${from} ${end} order by key desc limit ${sql.lit(count)}`
    const query = together(kind, parts.slice(start, start + partsAtOnce), rowsOf)
    const { rows } = await read((db) => sql<Row>`${query}`.execute(db))
    newest = [...newest, ...rows].toSorted((a, b) => (a.key < b.key ? 1 : -1)).slice(0, count)
  }
  return newest
}

const equals = (part: Readonly<Record<string, unknown>>): RawBuilder<unknown> =>
  sql.join([sql`1 = 1`, ...Object.entries(part).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)], sql` and `)

/** PostgreSQL plans each query of a union, which takes longer than to run it: of a join it plans one. SQLite has no such join. */
function together(
  kind: Store['kind'],
  parts: readonly Part[],
  rowsOf: (part: Readonly<Record<string, unknown>>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [first = {}, ...others] = parts
  if (others.length === 0) return rowsOf(first)
  if (kind === 'embedded')
    return sql.join(
      parts.map((part) => sql`select * from (${rowsOf(part)}) as each`),
      sql` union all `,
    )
  const columns = Object.keys(first)
  const values = parts.map((part) => sql`(${sql.join(columns.map((column) => part[column]))})`)
  const joined = Object.fromEntries(columns.map((column) => [column, sql.ref(`part.${column}`)]))
  return sql`select each.* from (values ${sql.join(values)}) as part(${sql.join(columns.map((column) => sql.ref(column)))})
    cross join lateral (${rowsOf(joined)}) as each`
}

/** SQL, of each field of a filter that a column tells. */
function conditionsOf(table: ListedTable, filter: EntryFilter): ReadonlyMap<keyof EntryFilter, RawBuilder<unknown>> {
  const { chain, network, address, addresses, idempotencyKey, requestId, client, kind, connector, connectors } = filter
  const { state, nonce, on, pair, pairAliases = [], isOfNoPair } = filter
  const inJournal = table === 'entries'
  const all: readonly (readonly [keyof EntryFilter, RawBuilder<unknown> | false | undefined])[] = [
    ['chain', chain !== undefined && sql`chain = ${chain}`],
    ['network', network !== undefined && sql`network = ${network}`],
    ['address', address !== undefined && sql`address = ${addressKey(address)}`],
    ['addresses', addresses && isAny('address', addresses)],
    ['idempotencyKey', idempotencyKey !== undefined && sql`idempotency_key = ${idempotencyKey}`],
    ['requestId', requestId !== undefined && sql`request_id = ${requestId}`],
    ['client', client !== undefined && sql`client = ${client}`],
    ['kind', kind !== undefined && sql`kind = ${kind}`],
    ['connector', connector !== undefined && sql`connector = ${connector}`],
    ['connectors', connectors && isAny('connector', connectors)],
    ['pair', pair !== undefined && sql`(${sql.join([sql`pair = ${pair}`, ...pairAliases.map(isAlias)], sql` or `)})`],
    ['isOfNoPair', isOfNoPair && sql`pair is null`],
    ['state', inJournal && state !== undefined && sql`state = ${state}`],
    ['nonce', inJournal && nonce !== undefined && sql`nonce = ${nonce}`],
    ['on', inJournal && on && isOnRail(on)],
  ]
  return new Map(all.flatMap(([name, condition]) => (condition ? [[name, condition]] : [])))
}

const isAny = (column: string, values: ReadonlySet<string>): RawBuilder<unknown> =>
  values.size === 0 ? sql`1 = 0` : sql`${sql.ref(column)} in (${sql.join([...values])})`

const isAlias = ({ chain, network, pair }: NonNullable<EntryFilter['pairAliases']>[number]): RawBuilder<unknown> =>
  sql`pair = ${pair} and chain = ${chain} and network = ${network}`

/** SQL: whether an entry is on the rail. */
export const isOnRail = ({ connector, address }: OnRail): RawBuilder<boolean> => {
  const ofRail = connector === undefined ? sql`via is null` : sql`via = ${connector}`
  const owner = sql.ref(connector === undefined ? 'address' : 'signer')
  return address === undefined ? sql`${ofRail}` : sql`${ofRail} and ${owner} = ${addressKey(address)}`
}

/** As the index says it: else no database uses it. Most are trades, and most are confirmed: there are indexes of the others. */
export const isNoTrade = sql<boolean>`kind <> 'trade'`
const isUnconfirmed = sql<boolean>`state <> 'CONFIRMED'`

/** What is looked through: the database would have to guess which condition leaves few rows. */
async function searchFor(reader: Reader, table: ListedTable, filter: EntryFilter): Promise<Search> {
  const conditions = conditionsOf(table, filter)
  /** @param covered what no row of the parts needs to be compared by */
  function search(parts: readonly Part[], covered: readonly (keyof EntryFilter)[]): Search {
    const left = [...conditions].filter(([name]) => !covered.includes(name)).map(([, condition]) => condition)
    return { parts, ...(left.length > 0 && { matches: sql.join(left, sql` and `) }) }
  }

  const { txHash, idempotencyKey, requestId, nonce, on, address, addresses, chain, network, state, kind, client, connector } = filter
  const inJournal = table === 'entries'
  if (txHash !== undefined) return search(await keysOfHash(reader, txHash), [])
  if (idempotencyKey !== undefined) return search([{ idempotency_key: idempotencyKey }], ['idempotencyKey'])
  if (requestId !== undefined) return search([{ request_id: requestId }], ['requestId'])
  if (inJournal && nonce !== undefined) return search([{ nonce }], ['nonce'])
  if (inJournal && on?.connector !== undefined && on.address !== undefined) return search([{ signer: addressKey(on.address) }], [])

  const wallet = address ?? (on?.connector === undefined ? on?.address : undefined)
  if (wallet !== undefined && addresses?.has(addressKey(wallet)) === false) return { parts: [] }
  const wallets = wallet === undefined ? addresses && [...addresses] : [addressKey(wallet)]
  const ofWallets = ['address', 'addresses'] as const
  const names = pairNames(filter)
  if (names.length > 0) {
    // An alias is one on its network alone.
    const ofPair = filter.pairAliases ? [] : (['pair'] as const)
    if (!inJournal || !wallets || wallets.length * names.length > manyParts)
      return search(
        names.map((pair) => ({ pair })),
        ofPair,
      )
    const parts = wallets.flatMap((each) => names.map((pair) => ({ address: each, pair })))
    return search(parts, [...ofWallets, ...ofPair])
  }
  if (inJournal && state !== undefined && state !== 'CONFIRMED') return { ...search([{ state }], ['state']), indexed: isUnconfirmed }
  if (kind !== undefined && kind !== 'trade') return { ...search([{ kind }], ['kind']), indexed: isNoTrade }
  const onNetwork = inJournal && chain !== undefined && network !== undefined ? { chain, network } : undefined
  if (wallets) {
    const parts = wallets.map((each) => ({ address: each, ...onNetwork }))
    const found = search(parts, onNetwork ? [...ofWallets, 'chain', 'network'] : ofWallets)
    if (!found.matches || wallets.length <= manyParts) return found
  }
  if (client !== undefined) return search([{ client }], ['client'])
  if (connector !== undefined) return search([{ connector }], ['connector'])
  if (!inJournal || chain === undefined) return search([{}], [])
  const networks = network === undefined ? await networksIn(reader, chain) : [network]
  return search(
    networks.map((each) => ({ chain, network: each })),
    ['chain', 'network'],
  )
}

/** The networks of a chain that have entries: a step in the index for each, not for each entry. */
async function networksIn({ read }: Reader, chain: string): Promise<readonly string[]> {
  const next = sql`select min(network) from entries where chain = ${chain}`
  const { rows } = await read((db) =>
    sql<{ network: string }>`
      with recursive networks(name) as (${next} union all select (${next} and network > name) from networks where name is not null)
      select name as network from networks where name is not null`.execute(db),
  )
  return rows.map(({ network }) => network)
}

/** A hash is signed once on a network. */
async function keysOfHash({ read }: Reader, txHash: string): Promise<readonly Part[]> {
  const rows = await read((db) =>
    db
      .selectFrom('hashes')
      .select('entry_key')
      .where('hash', '=', hashBytes(canonicalHash(txHash)))
      .execute(),
  )
  return [...new Set(rows.map((row) => row.entry_key))].map((key) => ({ key }))
}
