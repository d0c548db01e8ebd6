// What clients have spent and what their open transactions hold, in the store: rows of the tables budgets and reservations.
import { sql, type Transaction } from 'kysely'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { dropOldest } from '../base/oldest.ts'
import { countEveryMs, storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import type { ReservationRow, Tables } from '../store/tables.ts'
import type { MadeAtPrice, PoolTerms, PositionTerms, ReservationPart } from '../transactions/budgets.ts'
import { emptyAccount, greatest, readAccount, readAmounts, sum, writeAccount, writeAmounts, type Account, type Amounts } from './account.ts'

type Tx = Transaction<Tables>

export const ownerOf = (client: string): string => `client ${client}`

/** What an open entry may come to. */
export interface Reservation {
  /** Entries of one nonce: at most one of them is mined, so that the greatest of them is held. */
  readonly nonce: string
  readonly amounts: Amounts
  /** Of the market, where the entry is held against it. */
  readonly prices: Amounts
  /** By the median of the last minutes; empty where the market has none, and of entries of before. */
  readonly medianPrices: Amounts
  /** By token address, what it gives at most, where its value counts. */
  readonly gives: Amounts
  /** Of several orders of one signed action what each holds of it, by its index. */
  readonly parts?: ReadonlyMap<number, Amounts>
  /** Of what is exchanged: the worst that its bytes permit, to value it again while it waits. */
  readonly exchanged?: ExchangedAmounts
}

/** By token address. */
export interface ExchangedAmounts {
  readonly gives: Amounts
  readonly gets: Amounts
  /** As it was when it was signed. */
  readonly lossMicros: bigint
  /** Of a deposit into a pool: what one unit of each token is worth there. */
  readonly prices?: PoolTerms['prices']
  readonly made?: MadeAtPrice
  /** Of a perpetual on the chain, whose sides it exchanges. */
  readonly at?: PositionTerms['at']
}

/** By the key of the entry. */
export type Reservations = ReadonlyMap<string, Reservation>

/** What they hold together. */
export function openOf(reservations: Reservations): Amounts {
  const [only, ...more] = reservations.values()
  if (more.length === 0) return only ? greatest([only.amounts]) : {}
  const byNonce = new Map<string, Amounts>()
  for (const { nonce, amounts } of reservations.values()) byNonce.set(nonce, greatest([byNonce.get(nonce) ?? {}, amounts]))
  return [...byNonce.values()].reduce(sum, {})
}

/** The store's time may be behind by two counts. */
export const lagMs = 2 * countEveryMs

export interface StoredAccount {
  readonly account: Account
  readonly nowMs: number
}

/**
 * Locks the owner's row of the table budgets, or creates it: who comes second waits, and reads what the first has written.
 * @param body of a new one
 */
export const lockRow = (owner: string, tx: Tx, body = '') =>
  tx
    .insertInto('budgets')
    .values({ owner, body })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ owner }))

/**
 * As `lockRow`, of which most are there. In the embedded store writes are one after another.
 * @throws SluiceError SERVICE_UNINITIALIZED
 */
export async function lockAccount(owner: string, tx: Tx, kind: Store['kind']): Promise<StoredAccount> {
  const known = tx
    .selectFrom('budgets')
    .select(['body', storeTime.as('now')])
    .where('owner', '=', owner)
  const row =
    (await (kind === 'postgres' ? known.forUpdate() : known).executeTakeFirst()) ??
    (await lockRow(owner, tx)
      .returning(['body', storeTime.as('now')])
      .executeTakeFirstOrThrow())
  return { account: accountOf(owner, row), nowMs: row.now }
}

/** As it is now, not locked. @throws SluiceError SERVICE_UNINITIALIZED; StoreUnavailable */
export async function peekAccount(owner: string, read: Store['read']): Promise<StoredAccount> {
  const row = await read((db) =>
    db
      .selectNoFrom((eb) => [storeTime.as('now'), eb.selectFrom('budgets').select('body').where('owner', '=', owner).as('body')])
      .executeTakeFirstOrThrow(),
  )
  return { account: accountOf(owner, { body: row.body ?? '' }), nowMs: row.now }
}

/** @param row of the table budgets @throws SluiceError SERVICE_UNINITIALIZED */
export const accountOf = (owner: string, row: { readonly body: string } | undefined): Account =>
  row && row.body !== '' ? readStored(owner, () => readAccount(row.body)) : emptyAccount

/** @throws SluiceError SERVICE_UNINITIALIZED: what was spent is not known, so nothing more is */
function readStored<T>(owner: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SluiceError(
      'SERVICE_UNINITIALIZED',
      `What the ${owner} has spent of its limits cannot be read in the store, so nothing is signed for it. Restore the store from a copy, or remove its row of the table budgets.`,
      { cause },
    )
  }
}

/** Those of the entries and of all others of their nonces, of one owner whose row is locked. @throws SluiceError SERVICE_UNINITIALIZED */
export async function readReservations(owner: string, keys: readonly string[], tx: Tx): Promise<Reservations> {
  const nonces = tx.selectFrom('reservations').select('nonce').where('owner', '=', owner).where('entry_key', 'in', keys)
  const rows = await tx.selectFrom('reservations').selectAll().where('owner', '=', owner).where('nonce', 'in', nonces).execute()
  return reservationsIn(owner, rows)
}

export interface EndedRow extends ReservationRow {
  /** In the embedded store the account of its owner, in one of the owner's rows; null in all others, and where the owner has no account. */
  readonly account: string | null
  readonly now: number
}

/**
 * In one statement the same of all owners, which are not locked: where another server may write, it only says who they are. An account may be large: it is
 * read once for each owner, and in the embedded store alone.
 */
export async function readEnded(keys: readonly string[], tx: Tx, kind: Store['kind']): Promise<readonly EndedRow[]> {
  // Of one key there is one owner, and one row that it has itself.
  const isFirst = keys.length === 1 ? sql`held.entry_key = ended.entry_key` : sql`row_number() over (partition by held.owner) = 1`
  const account = sql`case when ${isFirst} then (select budgets.body from budgets where budgets.owner = held.owner) end`
  const { rows } = await sql<EndedRow>`
    select held.entry_key, held.owner, held.nonce, held.body, ${kind === 'embedded' ? account : sql`null`} as account, ${storeTime} as now
    from reservations as ended
    join reservations as held on held.nonce = ended.nonce and held.owner = ended.owner
    where ended.entry_key in (${sql.join(keys)})`.execute(tx)
  return rows
}

interface TakenRow extends ReservationRow {
  readonly now: number
  /** How many others have its nonce. */
  readonly beside: number
}

/** In the embedded store: what is reserved for an entry, which is there no more. As text: making the query takes longer than the database does. */
export async function takeReservation(key: string, tx: Tx): Promise<TakenRow | undefined> {
  const { rows } = await sql<TakenRow>`
    delete from reservations where entry_key = ${key}
    returning entry_key, owner, nonce, body, ${storeTime} as now, (
      select count(*) from reservations as other
      where other.owner = reservations.owner and other.nonce = reservations.nonce and other.entry_key <> reservations.entry_key
    ) as beside`.execute(tx)
  return rows[0]
}

/** Those of the same nonce. */
export const besideOf = ({ owner, nonce }: ReservationRow, tx: Tx): Promise<readonly ReservationRow[]> =>
  tx.selectFrom('reservations').selectAll().where('owner', '=', owner).where('nonce', '=', nonce).execute()

export const returnReservation = async ({ entry_key, owner, nonce, body }: ReservationRow, tx: Tx): Promise<void> =>
  void (await tx.insertInto('reservations').values({ entry_key, owner, nonce, body }).execute())

/** @param rows of this owner @throws SluiceError SERVICE_UNINITIALIZED */
export function reservationsIn(owner: string, rows: readonly ReservationRow[]): Reservations {
  return readStored(
    owner,
    () =>
      new Map(
        rows.map(({ entry_key, nonce, body }) => {
          const known = lately.get(entry_key)
          return [entry_key, known?.body === body ? known.reservation : { nonce, ...readReservation(body) }]
        }),
      ),
  )
}

/** As they were written lately, by the keys of entries: most end a moment later, and what was written is not read then. */
const lately = new Map<string, { readonly body: string; readonly reservation: Reservation }>()
const maxLately = 1_000

function keepLately(key: string, body: string, reservation: Reservation): void {
  lately.delete(key)
  lately.set(key, { body, reservation })
  dropOldest(lately, maxLately)
}

/** @throws Error where it is not what `writeReservation` makes */
function readReservation(body: string): Omit<Reservation, 'nonce'> {
  const stored: unknown = JSON.parse(body)
  const { amounts, prices, medianPrices = {}, gives = {}, parts, exchanged } = isObject(stored) ? stored : {}
  return {
    amounts: readAmounts(amounts),
    prices: readAmounts(prices),
    medianPrices: readAmounts(medianPrices),
    gives: readAmounts(gives),
    ...(isObject(parts) && { parts: readParts(parts) }),
    ...(isObject(exchanged) && { exchanged: readExchanged(exchanged) }),
  }
}

/** @throws Error */
const readExchanged = ({ gives, gets, loss, prices, made, at }: Readonly<Record<string, unknown>>): ExchangedAmounts => ({
  gives: readAmounts(gives),
  gets: readAmounts(gets),
  lossMicros: BigInt(String(loss)),
  ...(isObject(prices) && { prices: readPrices(prices) }),
  ...(isObject(made) && { made: readMade(made) }),
  ...(isObject(at) && { at: { connector: String(at['connector']), market: String(at['market']) } }),
})

/** @throws Error */
const readPrices = (stored: object): PoolTerms['prices'] =>
  Object.fromEntries(
    Object.entries(stored).map(([token, price]) => {
      const [numerator = '', denominator = ''] = String(price).split('/')
      return [token, { numerator: BigInt(numerator), denominator: BigInt(denominator) }]
    }),
  )

/** @throws Error */
function readMade({ tokens, amounts, liquidity, loss }: Readonly<Record<string, unknown>>): MadeAtPrice {
  const [token0, token1] = Array.isArray(tokens) ? tokens.map(String) : []
  const [amount0, amount1] = Array.isArray(amounts) ? amounts.map((raw) => BigInt(String(raw))) : []
  if (token0 === undefined || token1 === undefined || amount0 === undefined || amount1 === undefined)
    throw new Error('A stored deposit has two tokens and two amounts.')
  return { tokens: [token0, token1], amounts: [amount0, amount1], liquidity: BigInt(String(liquidity)), lossMicros: BigInt(String(loss)) }
}

const writeMade = ({ tokens, amounts, liquidity, lossMicros }: MadeAtPrice) => ({
  tokens,
  amounts: amounts.map(String),
  liquidity: liquidity.toString(),
  loss: lossMicros.toString(),
})

const writeExchanged = ({ gives, gets, lossMicros, prices, made, at }: ExchangedAmounts) => ({
  gives: writeAmounts(gives),
  gets: writeAmounts(gets),
  loss: lossMicros.toString(),
  ...(prices && {
    prices: Object.fromEntries(
      Object.entries(prices).map(([token, { numerator, denominator }]) => [token, `${numerator}/${denominator}`] as const),
    ),
  }),
  ...(made && { made: writeMade(made) }),
  ...(at && { at }),
})

const readParts = (stored: object): ReadonlyMap<number, Amounts> =>
  new Map(Object.entries(stored).map(([index, amounts]) => [Number(index), readAmounts(amounts)]))

const writeReservation = ({ amounts, prices, medianPrices, gives, parts, exchanged }: Reservation): string =>
  JSON.stringify({
    amounts: writeAmounts(amounts),
    prices: writeAmounts(prices),
    ...(Object.keys(medianPrices).length > 0 && { medianPrices: writeAmounts(medianPrices) }),
    ...(Object.keys(gives).length > 0 && { gives: writeAmounts(gives) }),
    ...(parts && { parts: Object.fromEntries([...parts].map(([index, ofPart]) => [index, writeAmounts(ofPart)])) }),
    ...(exchanged && { exchanged: writeExchanged(exchanged) }),
  })

interface ChangedAccount {
  readonly owner: string
  readonly account: Account
  /** From now on. */
  readonly held: Reservations
}

const rowsOf = ({ owner, held }: ChangedAccount) =>
  [...held].map(([entry_key, reservation]) => {
    const body = writeReservation(reservation)
    keepLately(entry_key, body, reservation)
    return { entry_key, owner, nonce: reservation.nonce, body }
  })

/** The account, and what is held from now on: in PostgreSQL one statement. */
export async function writeReserved(changed: ChangedAccount, tx: Tx, kind: Store['kind']): Promise<void> {
  const rows = rowsOf(changed)
  if (rows.length === 0)
    return void (await sql`update budgets set body = ${writeAccount(changed.account)} where owner = ${changed.owner}`.execute(tx))
  const change = tx
    .updateTable('budgets')
    .set({ body: writeAccount(changed.account) })
    .where('owner', '=', changed.owner)
  if (kind === 'postgres')
    return void (await addRows(
      tx.with('changed', () => change),
      rows,
    ).execute())
  await change.execute()
  await addRows(tx, rows).execute()
}

/** In the embedded store: the same where the account is as it was before. @returns whether it was */
export async function writeReservedOver(before: Account, changed: ChangedAccount, tx: Tx): Promise<boolean> {
  // As text: making these queries takes longer than the database does.
  const { numAffectedRows } = await sql`
    update budgets set body = ${writeAccount(changed.account)} where owner = ${changed.owner} and body = ${writeAccount(before)}`.execute(
    tx,
  )
  if (numAffectedRows !== 1n) return false
  for (const { entry_key, owner, nonce, body } of rowsOf(changed))
    await sql`insert into reservations (entry_key, owner, nonce, body) values (${entry_key}, ${owner}, ${nonce}, ${body})
      on conflict (entry_key) do update set body = excluded.body`.execute(tx)
  return true
}

const addRows = (db: Pick<Tx, 'insertInto'>, rows: ReturnType<typeof rowsOf>) =>
  db
    .insertInto('reservations')
    .values(rows)
    .onConflict((conflict) => conflict.column('entry_key').doUpdateSet({ body: sql`excluded.body` }))

/** In PostgreSQL: the same where the account is as it was before, as a part of another statement. Of a row that is locked nobody knows yet. */
export const reservationPart = (changed: ChangedAccount, before: Account): Pick<ReservationPart, 'holds' | 'writes'> => ({
  holds: sql`select 1 from budgets where owner = ${changed.owner} and body = ${writeAccount(before)} for update skip locked`,
  writes: sql`
    budget_changed as (
      update budgets set body = ${writeAccount(changed.account)} from outcome where written and owner = ${changed.owner}
      returning ${storeTime} as now
    ),
    budget_held as (
      insert into reservations (entry_key, owner, nonce, body) select entry_key, owner, nonce, body
      from outcome, json_to_recordset(${JSON.stringify(rowsOf(changed))}::json) as held(entry_key text, owner text, nonce text, body text)
      where written
    )`,
})
