// Lists entries of the journal, newest first. However large it is, only rows of an index that match are read, a page at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import { hashBytes, walletNumber } from '../../store/compact.ts'
import { isOfPair, pairNames } from '../../store/entry-filters.ts'
import type { Store } from '../../store/store.ts'
import type { EntryRow, Tables } from '../../store/tables.ts'
import { canonicalHash, type TransactionState } from '../entry.ts'
import { bodyColumns, type BodyRow } from './entry-rows.ts'
import { firstKeyAt } from '../submit-request.ts'
import { transactionStates } from '../../api/transactions.ts'
import type { EntryFilter } from './journal.ts'
import { addressKey } from '../../base/addresses.ts'

/** What the filters are about. The body is read only of rows that are shown. */
const columns = [
  'key',
  'chain',
  'network',
  'address',
  'state',
  'via',
  'signer',
  'nonce',
  'request_id',
  'idempotency_key',
  'client',
  'kind',
  'connector',
  'pair',
] as const
type Row = Pick<EntryRow, (typeof columns)[number]>
type Query<R> = SelectQueryBuilder<Tables, 'entries', R>
/** Starts a query of entries. */
type Select<R> = (db: Kysely<Tables>) => Query<R>

/** Rows that one statement reads where only some of them match: about a millisecond. */
const pageRows = 250
/** Bodies that are read before other work has its turn. */
const pageBodies = 50
/** Groups that one statement reads. */
const maxGroups = 50
/** With more wallets, their newest entries are found first: most have none that the page shows. */
const manyGroups = 16
/** Groups whose newest entry one statement finds. */
const maxSeeks = 200

/** Entries that an index has together, newest first. */
interface Group {
  readonly chain: string
  readonly network: string
  readonly address?: string
  readonly state?: string
}

/** @returns what is read of the newest entries that match, at most `limit` */
export async function listEntries(store: Store, asked: EntryFilter, limit: number): Promise<readonly BodyRow[]> {
  const filter = await withKnownAliases(store, 'entries', withinTime(asked))
  const keys = await (filter.txHash === undefined ? listKeys(store, filter, limit) : keysOfHash(store, filter, limit))
  const rowOf = new Map<string, BodyRow>()
  for (let start = 0; start < keys.length; start += pageBodies) {
    if (start > 0) await nextTurn()
    const part = keys.slice(start, start + pageBodies)
    const rows = await store.read((db) => db.selectFrom('entries').select(bodyColumns).where('key', 'in', part).execute())
    for (const row of rows) rowOf.set(row.key, row)
  }
  return keys.flatMap((key) => rowOf.get(key) ?? [])
}

/** Keys sort by time. */
export function withinTime(filter: EntryFilter): EntryFilter {
  const { to, cursor } = filter
  if (to === undefined) return filter
  const end = firstKeyAt(to)
  return { ...filter, cursor: cursor === undefined || end < cursor ? end : cursor }
}

/** Lists of all networks give a hundred names of a pair, of which the journal has one or two. */
export async function withKnownAliases(store: Store, table: 'entries' | 'archived', filter: EntryFilter): Promise<EntryFilter> {
  const { pairAliases, ...others } = filter
  if (!pairAliases?.length) return filter
  const names = [...new Set(pairAliases.map(({ pair }) => pair))].map((name) => sql`(${name})`)
  const { rows } = await store.read((db) =>
    sql<{ name: string }>`
      with wanted(name) as (values ${sql.join(names)})
      select name from wanted where exists (select 1 from ${sql.table(table)} as those where those.pair = wanted.name)`.execute(db),
  )
  const known = new Set(rows.map(({ name }) => name))
  return { ...others, pairAliases: pairAliases.filter(({ pair }) => known.has(pair)) }
}

/** A hash is signed once on a network. */
async function keysOfHash(store: Store, filter: EntryFilter, limit: number): Promise<readonly string[]> {
  const { txHash = '', cursor, from } = filter
  const lowest = from === undefined ? '' : firstKeyAt(from)
  const rows = await store.read((db) => {
    const keys = db
      .selectFrom('hashes')
      .select('entry_key')
      .where('hash', '=', hashBytes(canonicalHash(txHash)))
    return rowsIn(db).where('key', 'in', keys).execute()
  })
  return rows
    .filter((row) => matches(row, filter) && (cursor === undefined || row.key < cursor) && row.key >= lowest)
    .map(({ key }) => key)
    .toSorted((a, b) => (a < b ? 1 : -1))
    .slice(0, limit)
}

async function listKeys(store: Store, filter: EntryFilter, limit: number): Promise<readonly string[]> {
  const ofColumn = byColumn(filter)
  if (ofColumn) return collect(pagesOfAny(store, ofColumn), filter, limit, matches)
  const groups = await groupsOf(store, filter)
  if (groups?.length === 0) return []
  if (hasOwnFilter(filter)) {
    const ofGroups = groups ? createMerge(store, inGroups(groups, rowsIn)) : pagesOf(store, rowsIn)
    const ofFilter = byOwnFilter(filter)
    if (!ofFilter) return collect(ofGroups, filter, limit, matches)
    const pages = pagesOfAny(store, ofFilter)
    return collectFirst(groups && groups.length > manyGroups ? [pages, ofGroups] : [ofGroups, pages], filter, limit, matches)
  }
  // Every row of the groups matches, and their index has the key.
  if (!groups) return collect(pagesOf(store, keysIn), filter, limit)
  if (filter.from !== undefined || groups.length <= manyGroups || groups.some(({ address }) => address === undefined))
    return collect(createMerge(store, inGroups(groups, keysIn)), filter, limit)
  const found = await groupsOfPage(store, groups, filter.cursor, limit)
  const ofPage = found.map(({ group }) => group)
  // The page ends there at the latest, since each of these groups has one that is as new.
  const lowest = found[limit - 1]?.key
  if (lowest === undefined) return collect(createMerge(store, inGroups(ofPage, keysIn)), filter, limit)
  return newestDownTo(store, ofPage, lowest, filter.cursor, limit)
}

const rowsIn: Select<Row> = (db) => db.selectFrom('entries').select(columns)
const keysIn: Select<{ key: string }> = (db) => db.selectFrom('entries').select('key')

/** Newest first: the `count` entries before a key. */
type ReadPage<R> = (before: string | undefined, count: number) => Promise<readonly R[]>

type Condition<R> = (row: R, filter: EntryFilter) => boolean

const collect = <R extends { key: string }>(
  readPage: ReadPage<R>,
  filter: EntryFilter,
  limit: number,
  isWanted: Condition<R> = () => true,
) => collectFirst([readPage], filter, limit, isWanted)

/**
 * Several indexes lead to the same entries, and one of them past few others: they are read in turns, a page of each, and the first that is through
 * has all. So it takes as many times as long as by the best of them as there are indexes, and nobody has to guess which that is.
 */
async function collectFirst<R extends { key: string }>(
  indexes: readonly ReadPage<R>[],
  filter: EntryFilter,
  limit: number,
  isWanted: Condition<R>,
): Promise<readonly string[]> {
  const lowest = filter.from === undefined ? '' : firstKeyAt(filter.from)
  const readers = indexes.map((readPage) => ({ readPage, keys: [] as string[], before: filter.cursor }))
  for (let count = limit; ; count = pageRows)
    for (const reader of readers) {
      const { readPage, keys, before } = reader
      const rows = await readPage(before, count)
      for (const row of rows) {
        if (row.key < lowest) return keys
        if (keys.length < limit && isWanted(row, filter)) keys.push(row.key)
      }
      if (rows.length < count || keys.length === limit) return keys
      reader.before = rows.at(-1)?.key
      await nextTurn()
    }
}

/** All entries. */
const pagesOf =
  <R>(store: Store, select: Select<R>): ReadPage<R> =>
  (before, count) =>
    store.read((db) => newest(select(db), before, count).execute())

/** Those of any of these: no entry is of two. */
function pagesOfAny(store: Store, [first, ...others]: Narrowings): ReadPage<Row> {
  const selects = [first, ...others].map(
    (narrow): Select<Row> =>
      (db) =>
        narrow(rowsIn(db)),
  )
  return selects[0] && others.length === 0 ? pagesOf(store, selects[0]) : createMerge(store, selects)
}

const newest = <R>(query: Query<R>, before: string | undefined, count: number): Query<R> =>
  (before === undefined ? query : query.where('key', '<', before)).orderBy('key', 'desc').limit(count)

const keyOf = (address: string | undefined) => (address === undefined ? undefined : addressKey(address))

/** Conditions, each with an index of its own. */
type Narrowings = readonly [Narrow, ...Narrow[]]
type Narrow = (query: Query<Row>) => Query<Row>

/** The one condition that leaves few rows, which has an index of its own. The database would have to guess which of several it is. */
function byColumn({ idempotencyKey, requestId, nonce, on, ...filter }: EntryFilter): Narrowings | undefined {
  if (idempotencyKey !== undefined) return [(query) => query.where('idempotency_key', '=', idempotencyKey)]
  if (requestId !== undefined) return [(query) => query.where('request_id', '=', requestId)]
  if (nonce !== undefined) return [(query) => query.where('nonce', '=', nonce)]
  const signer = on?.connector === undefined ? undefined : keyOf(on.address)
  if (signer !== undefined) return [(query) => query.where('signer', '=', signer)]
  const { address, addresses, state } = filter
  // Wallets have an index of their own, and few entries are open: of all of a pair most may be of others.
  if (address !== undefined || addresses || (state !== undefined && openStates.has(state))) return undefined
  return byOwnFilter(filter)
}

/** By what wallets and networks have no index of. */
function byOwnFilter({ client, kind, connector, ...filter }: EntryFilter): Narrowings | undefined {
  const [ofPair, ...ofAliases] = pairNames(filter).map(
    (name): Narrow =>
      (query) =>
        query.where('pair', '=', name),
  )
  if (ofPair) return [ofPair, ...ofAliases]
  if (client !== undefined) return [(query) => query.where('client', '=', client)]
  // Most are trades: there is an index of the others.
  if (kind !== undefined && kind !== 'trade') return [(query) => query.where('kind', '=', kind).where(isNoTrade)]
  return connector === undefined ? undefined : [(query) => query.where('connector', '=', connector)]
}

const openStates: ReadonlySet<TransactionState> = new Set(['QUEUED', 'SIGNED', 'BROADCAST', 'MINED'])

/** As the index says it: else no database uses it. */
export const isNoTrade = sql<boolean>`kind <> 'trade'`

/** Whether rows of a wallet or a network have to be looked at one by one. */
const hasOwnFilter = ({ pair, client, kind, connector, connectors, on }: EntryFilter): boolean =>
  [pair, client, kind, connector, connectors, on].some((each) => each !== undefined)

function matches(row: Row, filter: EntryFilter) {
  const { chain, network, address, addresses, state, idempotencyKey, requestId, nonce, on, client, kind, connector, connectors } = filter
  const isSame = <T>(wanted: T | undefined, value: T) => wanted === undefined || wanted === value
  return (
    isSame(chain, row.chain) &&
    isSame(network, row.network) &&
    isSame(keyOf(address), row.address) &&
    (addresses?.has(row.address) ?? true) &&
    isSame(state, row.state) &&
    isSame<string | null>(idempotencyKey, row.idempotency_key) &&
    isSame(requestId, row.request_id) &&
    isSame(nonce, row.nonce) &&
    isSame(client, row.client) &&
    isSame(kind, row.kind) &&
    isSame<string | null>(connector, row.connector) &&
    (connectors?.has(row.connector ?? '') ?? true) &&
    isOfPair(filter, row) &&
    (on === undefined || isRowOnRail(row, on))
  )
}

function isRowOnRail({ via, address, signer }: Row, { connector, address: wanted }: NonNullable<EntryFilter['on']>): boolean {
  if (via !== (connector ?? null)) return false
  return wanted === undefined || (connector === undefined ? address : signer) === addressKey(wanted)
}

/** Every network, wallet and state that may have entries that match; undefined if all entries do. */
async function groupsOf(store: Store, filter: EntryFilter): Promise<readonly Group[] | undefined> {
  const { chain, network, address, addresses, state, on } = filter
  const wallet = keyOf(address ?? (on?.connector === undefined ? on?.address : undefined))
  if (chain === undefined && network === undefined && wallet === undefined && !addresses && state === undefined) return undefined
  const isKnown = chain !== undefined && network !== undefined
  const networks = isKnown ? [{ chain, network }] : (await networksIn(store)).filter((each) => isOf(each, filter))
  const wallets = wallet === undefined ? (addresses ? [...addresses] : [undefined]) : [wallet]
  return networks.flatMap((each) =>
    wallets.flatMap((one): Group[] => {
      if (one !== undefined) return [{ ...each, address: one, ...(state !== undefined && { state }) }]
      return (state === undefined ? transactionStates : [state]).map((of) => ({ ...each, state: of }))
    }),
  )
}

const isOf = (each: Pick<Group, 'chain' | 'network'>, { chain, network }: EntryFilter) =>
  (chain === undefined || each.chain === chain) && (network === undefined || each.network === network)

/** The networks that have entries: a step in the index for each, not for each entry. */
async function networksIn(store: Store): Promise<readonly Pick<Group, 'chain' | 'network'>[]> {
  const { rows } = await store.read((db) =>
    sql<Pick<Group, 'chain' | 'network'>>`
      with recursive chains(chain) as (
        select min(chain) from entries
        union all
        select (select min(chain) from entries where entries.chain > chains.chain) from chains where chains.chain is not null
      ),
      networks(chain, network) as (
        select chain, (select min(network) from entries where entries.chain = chains.chain) from chains where chain is not null
        union all
        select chain, (select min(network) from entries where entries.chain = networks.chain and entries.network > networks.network)
        from networks where network is not null
      )
      select chain, network from networks where network is not null`.execute(db),
  )
  return rows
}

/** Those of many groups that have an entry in the page, with their newest ones, newest first: as many as the page has entries at most. */
async function groupsOfPage(
  store: Store,
  groups: readonly Group[],
  cursor: string | undefined,
  limit: number,
): Promise<readonly { group: Group; key: string }[]> {
  const found: { group: Group; key: string }[] = []
  for (let start = 0; start < groups.length; start += maxSeeks) {
    if (start > 0) await nextTurn()
    const part = groups.slice(start, start + maxSeeks)
    for (const { part: index, key } of await store.read((db) => newestOfEach(db, part, cursor))) {
      const group = part[index]
      if (group && key !== null) found.push({ group, key })
    }
  }
  return found.toSorted((a, b) => (a.key < b.key ? 1 : -1)).slice(0, limit)
}

/** The newest entries of groups down to a key. */
async function newestDownTo(
  store: Store,
  groups: readonly Group[],
  lowest: string,
  cursor: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  const keys: string[] = []
  for (let start = 0; start < groups.length; start += maxGroups) {
    if (start > 0) await nextTurn()
    const part = groups.slice(start, start + maxGroups)
    const { rows } = await store.read((db) => {
      const queries = part.map((group) => newest(ofGroup(keysIn(db), group).where('key', '>=', lowest), cursor, limit))
      return sql<{ key: string }>`${sql.join(
        queries.map((query) => sql`select * from ${query} as each`),
        sql` union all `,
      )}`.execute(db)
    })
    keys.push(...rows.map(({ key }) => key))
  }
  return keys.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, limit)
}

/** The newest key of each wallet on its network. */
async function newestOfEach(db: Kysely<Tables>, groups: readonly Group[], cursor: string | undefined) {
  const names = [...new Map(groups.map(({ chain, network }) => [`${chain}/${network}`, { chain, network }])).values()]
  const placeOf = new Map(names.map(({ chain, network }, place) => [`${chain}/${network}`, place]))
  const networks = names.map(({ chain, network }, place) => sql`(${sql.lit(place)}, ${chain}, ${network})`)
  const wallets = groups.map(({ chain, network, address = '' }, index) => {
    const numbers = [index, placeOf.get(`${chain}/${network}`), walletNumber(address, { chain, network })]
    return sql`(${sql.raw(numbers.join(', '))}, ${address})`
  })
  const state = groups[0]?.state
  const inState = state === undefined ? sql`` : sql`and entries.state = ${state}`
  const before = cursor === undefined ? sql`` : sql`and entries.key < ${cursor}`
  const wanted = {
    wallet: sql.ref('wanted.wallet'),
    address: sql.ref('wanted.address'),
    chain: sql.ref('networks.chain'),
    network: sql.ref('networks.network'),
  }
  const { rows: found } = await sql<{ part: number; key: string | null }>`
    with networks(place, chain, network) as (values ${sql.join(networks)}), wanted(part, place, wallet, address) as (values ${sql.join(wallets)})
    select part, (select key from entries where ${isOfWallet(wanted)} ${inState} ${before} order by key desc limit 1) as key
    from wanted join networks on networks.place = wanted.place`.execute(db)
  return found
}

type SqlValue = string | number | RawBuilder<unknown>

/**
 * SQL: whether an entry is of a wallet on a network. The number names it, and its index is the one to use. Two wallets may have the same number,
 * so the rest is compared.
 */
const isOfWallet = ({ wallet, address, chain, network }: Record<'wallet' | 'address' | 'chain' | 'network', SqlValue>) => sql<boolean>`
  entries.wallet = ${wallet} and coalesce(entries.address, '') = ${address}
  and coalesce(entries.chain, '') = ${chain} and coalesce(entries.network, '') = ${network}`

/** Some entries, and what was read of them and not given yet. */
interface Head<R> {
  readonly select: Select<R>
  rows: R[]
  /** The key that was read last. */
  before: string | undefined
  ended: boolean
}

/** Reads what several queries find, none of which finds what another one does, in the order of keys: of each only as much as is needed. */
function createMerge<R extends { key: string }>(store: Store, selects: readonly Select<R>[]): ReadPage<R> {
  const heads = selects.map((select): Head<R> => ({ select, rows: [], before: undefined, ended: false }))

  async function fill(empty: readonly Head<R>[], count: number): Promise<void> {
    for (let start = 0; start < empty.length; start += maxGroups) {
      if (start > 0) await nextTurn()
      await readNext(store, empty.slice(start, start + maxGroups), count)
    }
  }

  return async (before, count) => {
    for (const head of heads) head.before ??= before
    const merged: R[] = []
    while (merged.length < count) {
      const empty = heads.filter(({ rows, ended }) => rows.length === 0 && !ended)
      // Of many groups each has a few of the newest entries.
      if (empty.length > 0) await fill(empty, Math.ceil((2 * (count - merged.length)) / empty.length))
      const first = heads.reduce((a, b) => ((a.rows[0]?.key ?? '') < (b.rows[0]?.key ?? '') ? b : a))
      const row = first.rows.shift()
      if (!row) break
      merged.push(row)
    }
    return merged
  }
}

async function readNext<R extends { key: string }>(store: Store, heads: readonly Head<R>[], count: number): Promise<void> {
  const parts = await store.read(async (db) => {
    const queries = heads.map(({ select, before }) => newest(select(db), before, count))
    const [only, ...others] = queries
    if (only && others.length === 0) return (await only.execute()).map((row) => ({ part: 0, row }))
    const numbered = queries.map((query, index) => sql`select ${sql.lit(index)} as part, each.* from ${query} as each`)
    const { rows } = await sql<R & { part: number }>`${sql.join(numbered, sql` union all `)}`.execute(db)
    return rows.map((row) => ({ part: row.part, row }))
  })
  for (const { part, row } of parts) heads[part]?.rows.push(row)
  for (const head of heads) {
    head.ended = head.rows.length < count
    head.before = head.rows.at(-1)?.key ?? head.before
  }
}

const inGroups = <R>(groups: readonly Group[], select: Select<R>): readonly Select<R>[] =>
  groups.map((group) => (db) => ofGroup(select(db), group))

function ofGroup<R>(query: Query<R>, { chain, network, address, state }: Group): Query<R> {
  if (address === undefined) {
    const inNetwork = query.where('chain', '=', chain).where('network', '=', network)
    return state === undefined ? inNetwork : inNetwork.where('state', '=', state)
  }
  const ofNumber = query.where(isOfWallet({ wallet: walletNumber(address, { chain, network }), address, chain, network }))
  return state === undefined ? ofNumber : ofNumber.where('state', '=', state)
}
