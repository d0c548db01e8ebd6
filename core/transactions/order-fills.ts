// What was filled of orders in books, fill by fill. An order's transaction, or signed action, is final long before the order is filled: so its fills stand in
// the order's own row, which stays when the transaction is archived.
import * as Type from 'typebox'
import { fits } from '../base/schema-check.ts'
import { addressKey, canonicalHash } from '../base/addresses.ts'
import { isLess, sum } from '../base/decimal.ts'
import { isObject } from '../base/json.ts'
import type { ActionOutcome, Json } from '../contracts/index.ts'
import type { Kysely } from 'kysely'
import type { Store } from '../store/store.ts'
import type { OrderRow, Tables } from '../store/tables.ts'
import { hashBytes } from '../store/compact.ts'

/** As the exchange tells it; all amounts are decimal strings. */
export interface OrderFill {
  /** The exchange's id of it: an order has each once. */
  readonly tradeId: string
  /** Quote per one base. */
  readonly price: string
  /** In base. */
  readonly amount: string
  /** In `feeToken`; negative where the exchange paid. */
  readonly fee: string
  readonly feeToken: string
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  readonly txHash?: string
}

/** A fill of one of a wallet's orders, as its exchange tells it. */
export interface ToldFill {
  readonly fill: OrderFill
  /** The exchange's id of the order. Absent where it gave none, as to an order that was filled at once: then its transaction names it. */
  readonly orderId?: string
  /** The wallet's. */
  readonly side: 'BUY' | 'SELL'
}

/** An order as the journal has it, with what is known of its fills. */
export interface PlacedOrder {
  readonly clientOrderId: string
  readonly orderId?: string
  readonly type: string
  readonly market: string
  readonly about: Json
  /** It is not known to have ended. */
  readonly isOpen?: true
  /** What the exchange reported last. */
  readonly report?: Pick<ActionOutcome, 'state' | 'filledAmount' | 'averagePrice'>
  /** Oldest first. */
  readonly fills: readonly OrderFill[]
}

/** Orders of one wallet in one market of an exchange. */
export interface OrderMarket {
  readonly chain: string
  readonly network: string
  readonly connector: string
  /** The owner's. */
  readonly address: string
  readonly type: string
  readonly market: string
}

/** The newest of an order stay: a row has to be read with each page. */
const maxFills = 1_000
/** Databases take more parameters in one statement. */
const maxIds = 1_000

const Fills = Type.Array(
  Type.Object({
    tradeId: Type.String(),
    price: Type.String(),
    amount: Type.String(),
    fee: Type.String(),
    feeToken: Type.String(),
    timestamp: Type.Number(),
    txHash: Type.Optional(Type.String()),
  }),
)

/** @throws Error that names the order, if the text is not what `noteFills` writes */
export function readFills(key: string, text: string | null): readonly OrderFill[] {
  const fills: unknown = text === null ? [] : JSON.parse(text)
  if (fits(Fills, fills)) return fills
  throw new Error(`The fills of the journal's order ${key} cannot be read: restore the store from a copy, or remove that row.`)
}

/** What one reading of pages, the newest first, knows of an order. */
interface OrderReading {
  /** Where its row was full before, older fills were known, and are not kept. */
  readonly sinceMs: number
  /** Those that the row had before, and those that the reading has stored. */
  readonly stored: Set<string>
}

/** By the keys of orders' rows. One for all pages of a reading: a row does not keep all that these tell. */
export type FillsReading = Map<string, OrderReading>

/** @param known as the row has them: where it is full, those that it lacks may have been known before */
const readingOf = (known: readonly OrderFill[]): OrderReading => ({
  sinceMs: known.length >= maxFills ? (known[0]?.timestamp ?? -Infinity) : -Infinity,
  stored: new Set(known.map(({ tradeId }) => tradeId)),
})

/** Those that were not known before. */
function newFills(known: readonly OrderFill[], told: readonly OrderFill[], { sinceMs, stored }: OrderReading): readonly OrderFill[] {
  const ids = new Set(known.map(({ tradeId }) => tradeId))
  const isNew = ({ tradeId, timestamp }: OrderFill) => !ids.has(tradeId) && !stored.has(tradeId) && timestamp > sinceMs
  return [...new Map(told.map((each) => [each.tradeId, each])).values()].filter(isNew)
}

const keptOf = (known: readonly OrderFill[], added: readonly OrderFill[]): readonly OrderFill[] =>
  [...known, ...added].toSorted((one, other) => one.timestamp - other.timestamp).slice(-maxFills)

/** An order whose row lacks fills that its exchange told. */
interface FilledOrder {
  /** Of the entry that placed it. */
  readonly entryKey: string
  /** Its index in the outcome of that. */
  readonly index: number
  /** The exchange's id of it; absent where it gave none. */
  readonly orderId?: string
  readonly about: Json
}

/** Changes the row, unless another server was faster. */
type RowChange = (db: Pick<Kysely<Tables>, 'updateTable'>) => Promise<{ readonly numUpdatedRows: bigint }>

/** Stores new fills of an order. @param added also those of which the row keeps newer ones alone @returns whether they were stored */
export type FillsWriter = (order: FilledOrder, added: readonly OrderFill[], change: RowChange) => Promise<boolean>

/**
 * Adds fills to orders of a wallet: to those whose id at the exchange they name, or which their transaction placed.
 * @param idOf the ids of orders of which the journal has no report yet, by their client order ids
 * @param write stores those of one order
 * @param reading what the pages before it told
 * @returns how many orders have new ones @throws StoreUnavailable
 */
export async function noteFills(
  store: Store,
  { chain, network, connector, address, type, market }: OrderMarket,
  told: readonly ToldFill[],
  idOf: ReadonlyMap<string, string>,
  write: FillsWriter = async (_order, _added, change) => (await store.writeOnce(change)).numUpdatedRows > 0n,
  reading: FillsReading = new Map(),
): Promise<number> {
  const byOrder = groupedBy(told, ({ orderId }) => orderId)
  const orderIds = [...byOrder.keys()].slice(0, maxIds)
  const clientIds = [...idOf].flatMap(([clientOrderId, orderId]) => (byOrder.has(orderId) ? [clientOrderId] : [])).slice(0, maxIds)
  const unnamed = await byEntry(store, { chain, network }, told)
  if (orderIds.length === 0 && unnamed.size === 0) return 0
  const venue = { chain, network, connector, wallet: addressKey(address), type, market }
  const rows = await store.read((db) =>
    db
      .selectFrom('orders')
      .select(['key', 'client_order_id', 'order_id', 'entry_key', 'place', 'about', 'fills'])
      .where((eb) => eb.and(venue))
      .where((eb) =>
        eb.or([
          ...(orderIds.length > 0 ? [eb('order_id', 'in', orderIds)] : []),
          ...(clientIds.length > 0 ? [eb('client_order_id', 'in', clientIds)] : []),
          ...(unnamed.size > 0 ? [eb('entry_key', 'in', [...unnamed.keys()])] : []),
        ]),
      )
      .execute(),
  )
  let changed = 0
  for (const row of rows) {
    const { key, client_order_id, order_id, entry_key, place: index, about: aboutText, fills } = row
    const orderId = order_id ?? idOf.get(client_order_id)
    const about: Json = JSON.parse(aboutText)
    const known = readFills(key, fills)
    const ofOrder = reading.get(key) ?? readingOf(known)
    reading.set(key, ofOrder)
    const named = orderId === undefined ? [] : (byOrder.get(orderId) ?? [])
    const own = [...named, ...ofTransaction(row, rows, unnamed)].map(({ fill }) => fill)
    const added = newFills(known, own, ofOrder)
    if (added.length === 0) continue
    const change: RowChange = (db) =>
      db
        .updateTable('orders')
        .set({ fills: JSON.stringify(keptOf(known, added)) })
        .where((eb) => eb.and({ ...venue, client_order_id, key }))
        .where('fills', fills === null ? 'is' : '=', fills)
        .executeTakeFirst()
    // Where another server was faster, they are read again.
    const isStored = await write({ entryKey: entry_key, index, ...(orderId !== undefined && { orderId }), about }, added, change)
    if (isStored) for (const { tradeId } of added) ofOrder.stored.add(tradeId)
    changed += Number(isStored)
  }
  return changed
}

/** Without those that have no name. */
function groupedBy(told: readonly ToldFill[], nameOf: (each: ToldFill) => string | undefined): ReadonlyMap<string, readonly ToldFill[]> {
  const groups = new Map<string, ToldFill[]>()
  for (const each of told) {
    const name = nameOf(each)
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), each])
  }
  return groups
}

/** Fills without an id of an order, by the entries whose transactions made them. */
async function byEntry(
  store: Store,
  { chain, network }: Pick<OrderMarket, 'chain' | 'network'>,
  told: readonly ToldFill[],
): Promise<ReadonlyMap<string, readonly ToldFill[]>> {
  const byHash = groupedBy(told, ({ orderId, fill: { txHash } }) =>
    orderId === undefined && txHash !== undefined ? canonicalHash(txHash) : undefined,
  )
  const found = new Map<string, ToldFill[]>()
  for (const [hash, fills] of [...byHash].slice(0, maxIds)) {
    const row = await store.read((db) =>
      db
        .selectFrom('hashes')
        .select('entry_key')
        .where('chain', '=', chain)
        .where('network', '=', network)
        .where('hash', '=', hashBytes(hash))
        .executeTakeFirst(),
    )
    if (row) found.set(row.entry_key, [...(found.get(row.entry_key) ?? []), ...fills])
  }
  return found
}

type PlacedRow = Pick<OrderRow, 'key' | 'entry_key' | 'about'>

/** A transaction can fill an older order of the same wallet too: that is on the other side. Of two orders on one side nobody can tell whose a fill is. */
function ofTransaction(row: PlacedRow, rows: readonly PlacedRow[], unnamed: ReadonlyMap<string, readonly ToldFill[]>): readonly ToldFill[] {
  const fills = unnamed.get(row.entry_key)
  if (!fills) return []
  const side = sideIn(row)
  const isOther = (each: PlacedRow) => each.key !== row.key && each.entry_key === row.entry_key && sideIn(each) === side
  return rows.some(isOther) ? [] : fills.filter((each) => each.side === side)
}

function sideIn({ about }: PlacedRow): unknown {
  const read: unknown = JSON.parse(about)
  return isObject(read) ? read['side'] : undefined
}

/** Stores the exchange's ids of orders that have none, by their client order ids: fills are matched by them. @throws StoreUnavailable */
export async function noteOrderIds(
  store: Store,
  { chain, network, connector, address, type, market }: OrderMarket,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  if (ids.size === 0) return
  const venue = { chain, network, connector, wallet: addressKey(address), type, market }
  await store.write(async (tx) => {
    for (const [client_order_id, order_id] of ids)
      await tx
        .updateTable('orders')
        .set({ order_id })
        .where((eb) => eb.and({ ...venue, client_order_id, standing: 'open' }))
        .where('order_id', 'is', null)
        .execute()
  })
}

/** The orders that entries have placed, by the keys of the entries, in the order of the request; without rows that cannot be read. */
export async function placedBy(
  store: Store,
  keys: readonly string[],
  {
    readReport,
    onDamage,
  }: { readReport: (key: string, text: string) => NonNullable<PlacedOrder['report']>; onDamage: (error: unknown) => void },
): Promise<ReadonlyMap<string, readonly PlacedOrder[]>> {
  const placed = new Map<string, PlacedOrder[]>()
  for (let first = 0; first < keys.length; first += maxIds) {
    const rows = await store.read((db) =>
      db
        .selectFrom('orders')
        .select(['key', 'entry_key', 'client_order_id', 'order_id', 'type', 'market', 'about', 'standing', 'said', 'fills'])
        .where('entry_key', 'in', keys.slice(first, first + maxIds))
        .where('standing', '!=', 'free')
        .orderBy('key')
        .execute(),
    )
    for (const row of rows)
      try {
        const { key, client_order_id: clientOrderId, order_id: orderId, type, market, said } = row
        const order: PlacedOrder = {
          clientOrderId,
          ...(orderId !== null && { orderId }),
          type,
          market,
          about: JSON.parse(row.about),
          ...(row.standing === 'open' && { isOpen: true as const }),
          ...(said !== null && { report: readReport(key, said) }),
          fills: readFills(key, row.fills),
        }
        placed.set(row.entry_key, [...(placed.get(row.entry_key) ?? []), order])
      } catch (error) {
        onDamage(error)
      }
  }
  return placed
}

/**
 * Where wallets have orders that may be open.
 * @param endedSince also where one ended after that moment and lacks fills: of these the newest only
 */
export async function openOrderMarkets(
  store: Store,
  endedSince?: number,
): Promise<readonly (OrderMarket & { readonly isLacking?: true })[]> {
  const columns = ['chain', 'network', 'connector', 'wallet', 'type', 'market'] as const
  const open = await store.read((db) =>
    db.selectFrom('orders').select(columns).distinct().where('standing', '=', 'open').limit(maxIds).execute(),
  )
  const lacking = endedSince === undefined ? [] : await endedOrders(store, endedSince)
  const found = new Map<string, OrderMarket & { isLacking?: true }>()
  for (const { wallet: address, ...each } of open) found.set(JSON.stringify([...Object.values(each), address]), { ...each, address })
  for (const { chain, network, connector, wallet: address, type, market } of lacking) {
    const of = { chain, network, connector, type, market, address }
    found.set(JSON.stringify(Object.values(of)), { ...of, isLacking: true })
  }
  return [...found.values()]
}

async function endedOrders(store: Store, since: number) {
  const rows = await store.read((db) =>
    db
      .selectFrom('orders')
      .select(['key', 'chain', 'network', 'connector', 'wallet', 'type', 'market', 'said', 'fills'])
      .where('standing', '=', 'ended')
      .where('said_at', '>=', since)
      // Most orders end without any.
      .where('said', 'not like', '%"filledAmount":"0"%')
      .orderBy('said_at', 'desc')
      .limit(maxIds)
      .execute(),
  )
  return rows.filter(({ key, said, fills }) => {
    try {
      const report: unknown = JSON.parse(said ?? '{}')
      const filledAmount = isObject(report) ? report['filledAmount'] : undefined
      return typeof filledAmount === 'string' && lacksFills(filledAmount, readFills(key, fills))
    } catch {
      return false
    }
  })
}

/** Whether an order has fills that the book has not. */
export const lacksFills = (filledAmount: string, fills: readonly OrderFill[]): boolean =>
  isLess(sum(fills.map(({ amount }) => amount)), filledAmount)
