// Entries that an index has together, by network, wallet and state: which groups of them a filter wants, and which of many have the newest.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { transactionStates } from '../../api/transactions.ts'
import { walletNumber } from '../../store/compact.ts'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import { keyOf, type Narrow } from './entry-conditions.ts'
import { maxQueries, type Query, type Select } from './entry-pages.ts'
import type { EntryFilter } from './journal.ts'

/** Entries that an index has together, newest first. */
export interface Group {
  readonly chain: string
  readonly network: string
  readonly address?: string
  readonly state?: string
}

/** Groups whose newest entry one statement finds. */
const maxSeeks = 200

/** Every network, wallet and state that may have entries that match; undefined if all entries do. */
export async function groupsOf(store: Store, filter: EntryFilter): Promise<readonly Group[] | undefined> {
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
export async function groupsOfPage(
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

interface KeyPage {
  /** Older ones are not wanted. */
  readonly lowest: string
  readonly cursor: string | undefined
  readonly limit: number
}

/** The newest keys of all of these wallets: first a few of each, then what else is among them of those that have more. */
export async function newestOfWallets(
  store: Store,
  wallets: readonly Group[],
  { lowest, cursor, limit }: KeyPage,
): Promise<readonly string[]> {
  const few = Math.ceil((2 * limit) / wallets.length)
  const found = await newestOfEachWallet(store, wallets, { lowest, cursor, limit: few })
  const keys = new Set(newestFirst(found.flat()))
  const bound = [...keys][limit - 1] ?? lowest
  const unread = wallets.filter((_, index) => found[index]?.length === few && (found[index]?.at(-1) ?? '') > bound)
  if (unread.length > 0)
    for (const more of await newestOfEachWallet(store, unread, { lowest: bound, cursor, limit })) for (const key of more) keys.add(key)
  return newestFirst([...keys]).slice(0, limit)
}

const newestFirst = (keys: readonly string[]) => keys.toSorted((a, b) => (a < b ? 1 : -1))

/** Newest first, of each wallet so many at most. */
async function newestOfEachWallet(store: Store, wallets: readonly Group[], page: KeyPage): Promise<readonly (readonly string[])[]> {
  const found: string[][] = wallets.map(() => [])
  // PostgreSQL plans each query of a union, which takes longer than to run it: of a join it plans one. SQLite has no such join.
  const [atOnce, queryOf] = store.kind === 'postgres' ? [maxSeeks, joinOf] : [maxQueries, unionOf]
  for (let start = 0; start < wallets.length; start += atOnce) {
    if (start > 0) await nextTurn()
    const { rows } = await store.read((db) => queryOf(wallets.slice(start, start + atOnce), page).execute(db))
    for (const { part, key } of rows) found[start + part]?.push(key)
  }
  return found.map(newestFirst)
}

type KeyQuery = (wallets: readonly Group[], page: KeyPage) => RawBuilder<{ part: number; key: string }>

const joinOf: KeyQuery = (wallets, page) => {
  const { wanted, isWanted } = wantedOf(wallets, page.cursor)
  return sql`${wanted}
    select part, each.key from wanted join networks on networks.place = wanted.place cross join lateral (${keysWhere(isWanted, page)}) as each`
}

const unionOf: KeyQuery = (wallets, page) => {
  const queries = wallets.map(({ chain, network, address = '', state }, part) => {
    const isWanted = isOfWallet({ wallet: walletNumber(address, { chain, network }), address, chain, network })
    return sql`select ${sql.lit(part)} as part, key from (${keysWhere(sql`${isWanted} ${furtherConditions(state, page.cursor)}`, page)})`
  })
  return sql`${sql.join(queries, sql` union all `)}`
}

const keysWhere = (isWanted: RawBuilder<unknown>, { lowest, limit }: KeyPage) =>
  sql`select key from entries where ${isWanted} and entries.key >= ${lowest} order by key desc limit ${sql.lit(limit)}`

function furtherConditions(state: string | undefined, cursor: string | undefined) {
  const inState = state === undefined ? sql`` : sql`and entries.state = ${state}`
  return cursor === undefined ? inState : sql`${inState} and entries.key < ${cursor}`
}

/** The newest key of each wallet on its network. */
async function newestOfEach(db: Kysely<Tables>, groups: readonly Group[], cursor: string | undefined) {
  const { wanted, isWanted } = wantedOf(groups, cursor)
  const { rows: found } = await sql<{ part: number; key: string | null }>`${wanted}
    select part, (select key from entries where ${isWanted} order by key desc limit 1) as key
    from wanted join networks on networks.place = wanted.place`.execute(db)
  return found
}

/** SQL: wallets as rows of `wanted`, their networks as rows of `networks`, and whether an entry before the cursor is of a row of both. */
function wantedOf(groups: readonly Group[], cursor: string | undefined) {
  const names = [...new Map(groups.map(({ chain, network }) => [`${chain}/${network}`, { chain, network }])).values()]
  const placeOf = new Map(names.map(({ chain, network }, place) => [`${chain}/${network}`, place]))
  const networks = names.map(({ chain, network }, place) => sql`(${sql.lit(place)}, ${chain}, ${network})`)
  const wallets = groups.map(({ chain, network, address = '' }, index) => {
    const numbers = [index, placeOf.get(`${chain}/${network}`), walletNumber(address, { chain, network })]
    return sql`(${sql.raw(numbers.join(', '))}, ${address})`
  })
  const ofRows = {
    wallet: sql.ref('wanted.wallet'),
    address: sql.ref('wanted.address'),
    chain: sql.ref('networks.chain'),
    network: sql.ref('networks.network'),
  }
  return {
    wanted: sql`with networks(place, chain, network) as (values ${sql.join(networks)}),
      wanted(part, place, wallet, address) as (values ${sql.join(wallets)})`,
    isWanted: sql`${isOfWallet(ofRows)} ${furtherConditions(groups[0]?.state, cursor)}`,
  }
}

type SqlValue = string | number | RawBuilder<unknown>

/**
 * SQL: whether an entry is of a wallet on a network. The number names it, and its index is the one to use. Two wallets may have the same number,
 * so the rest is compared: in a `case`, of which databases take it that it leaves many rows. Were they to think that it leaves one, they would read and sort all of the wallet
 * instead of its newest.
 */
const isOfWallet = ({ wallet, address, chain, network }: Record<'wallet' | 'address' | 'chain' | 'network', SqlValue>) => sql<boolean>`
  entries.wallet = ${wallet}
  and case when entries.address = ${address} and entries.chain = ${chain} and entries.network = ${network} then true else false end`

/** The wallet of a filter that has no other condition, besides a time. */
export function byWalletAlone({
  chain,
  network,
  address,
  from: _from,
  to: _to,
  cursor: _cursor,
  limit: _limit,
  archived: _archived,
  shownOnly: _shown,
  ...others
}: EntryFilter): Narrow | undefined {
  const wallet = keyOf(address)
  if (chain === undefined || network === undefined || wallet === undefined) return undefined
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  return (query) => ofGroup(query, { chain, network, address: wallet })
}

export const inGroups = <R>(groups: readonly Group[], select: Select<R>): readonly Select<R>[] =>
  groups.map((group) => (db) => ofGroup(select(db), group))

function ofGroup<R>(query: Query<R>, { chain, network, address, state }: Group): Query<R> {
  if (address === undefined) {
    const inNetwork = query.where('chain', '=', chain).where('network', '=', network)
    return state === undefined ? inNetwork : inNetwork.where('state', '=', state)
  }
  const ofNumber = query.where(isOfWallet({ wallet: walletNumber(address, { chain, network }), address, chain, network }))
  return state === undefined ? ofNumber : ofNumber.where('state', '=', state)
}
