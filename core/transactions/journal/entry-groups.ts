// Entries that an index has together, by network, wallet and state: which groups of them a filter wants, and which of many have the newest.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { transactionStates } from '../../api/transactions.ts'
import { walletNumber } from '../../store/compact.ts'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import { keyOf } from './entry-conditions.ts'
import { keysIn, maxQueries, newest, type Query, type Select } from './entry-pages.ts'
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

/** The newest entries of groups down to a key. */
export async function newestDownTo(
  store: Store,
  groups: readonly Group[],
  lowest: string,
  cursor: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  const keys: string[] = []
  for (let start = 0; start < groups.length; start += maxQueries) {
    if (start > 0) await nextTurn()
    const part = groups.slice(start, start + maxQueries)
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
