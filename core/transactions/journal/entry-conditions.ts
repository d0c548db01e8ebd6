// Which entries of the journal a filter wants: the conditions that have an index of their own, and what is compared row by row.
import { sql, type SelectQueryBuilder } from 'kysely'
import { addressKey } from '../../base/addresses.ts'
import { isOfPair, pairNames } from '../../store/entry-filters.ts'
import type { EntryRow, Tables } from '../../store/tables.ts'
import type { TransactionState } from '../entry.ts'
import { firstKeyAt } from '../submit-request.ts'
import type { EntryFilter } from './journal.ts'

/** What the filters are about. The body is read only of rows that are shown. */
export const filterColumns = [
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
export type FilteredRow = Pick<EntryRow, (typeof filterColumns)[number]>

/** Keys sort by time. */
export function withinTime(filter: EntryFilter): EntryFilter {
  const { to, cursor } = filter
  if (to === undefined) return filter
  const end = firstKeyAt(to)
  return { ...filter, cursor: cursor === undefined || end < cursor ? end : cursor }
}

export const keyOf = (address: string | undefined) => (address === undefined ? undefined : addressKey(address))

/** Conditions, each with an index of its own. */
export type Narrowings = readonly [Narrow, ...Narrow[]]
export type Narrow = <R>(query: SelectQueryBuilder<Tables, 'entries', R>) => SelectQueryBuilder<Tables, 'entries', R>

/** The one condition that leaves few rows, which has an index of its own. The database would have to guess which of several it is. */
export function byColumn({ idempotencyKey, requestId, nonce, on, ...filter }: EntryFilter): Narrowings | undefined {
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

/** The condition of a filter that has no other one, besides a time. */
export function byOneColumn(filter: EntryFilter): Narrow | undefined {
  const { from: _from, to: _to, cursor: _cursor, limit: _limit, archived: _archived, shownOnly: _shown, ...conditions } = filter
  const [only, ...others] = Object.values(conditions).filter((value) => value !== undefined)
  const [narrow, ...aliases] = (only !== undefined && others.length === 0 && byColumn(filter)) || []
  return aliases.length === 0 ? narrow : undefined
}

/** By what wallets and networks have no index of. */
export function byOwnFilter({ client, kind, connector, ...filter }: EntryFilter): Narrowings | undefined {
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
export const hasOwnFilter = ({ pair, isOfNoPair, client, kind, connector, connectors, on }: EntryFilter): boolean =>
  [pair, isOfNoPair, client, kind, connector, connectors, on].some((each) => each !== undefined)

export function matches(row: FilteredRow, filter: EntryFilter) {
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

function isRowOnRail({ via, address, signer }: FilteredRow, { connector, address: wanted }: NonNullable<EntryFilter['on']>): boolean {
  if (via !== (connector ?? null)) return false
  return wanted === undefined || (connector === undefined ? address : signer) === addressKey(wanted)
}
