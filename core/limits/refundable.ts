// What was counted and may still come back: what an allowance holds, what an order offers. Rows of the table refundable, by a name that says where it is held.
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { addressKey } from '../base/addresses.ts'
import { isObject } from '../base/json.ts'
import type { Allowance } from '../contracts/index.ts'
import { storeTime } from '../store/store-time.ts'
import type { Tables } from '../store/tables.ts'
import type { Entry, RailId } from '../transactions/entry.ts'
import { readAmounts, windows, writeAmounts, type Amounts, type CountedAt } from './account.ts'

type Tx = Transaction<Tables>

/** A day, and a bucket. */
const keptMs = windows.day.bucketMs * (windows.day.buckets + 1)

/** Of one owner. */
export interface Refundable {
  readonly owner: string
  /** What counts of it, by measure. */
  readonly amounts: Amounts
  readonly counted: CountedAt
  /** All that these amounts were counted for, and how much of it may come back. */
  readonly ofRaw: bigint
  readonly heldRaw: bigint
  /** Of an allowance that ends by itself: seconds since the Unix epoch. */
  readonly expires?: number
  readonly standing?: StandingAmounts
}

/** What an allowance may lose on any day as long as it stands: the account holds it until then, and no day ends it. */
export interface StandingAmounts {
  readonly amounts: Amounts
  /** All that they are held for. */
  readonly ofRaw: bigint
}

/** What a final transaction tells of something that is held elsewhere. */
export interface HeldChange {
  readonly name: string
  /** What came back of what was held before; undefined where nobody can tell. Afterwards nothing more of that comes back. */
  readonly returnedRaw: bigint | undefined
  /**
   * What the transaction gives away, and how much of it may come back.
   * @param token where it may be a part of what its request gives
   * @param part of several orders the index of the one: what was reserved for it
   * @param expires of an allowance: until then, that second included
   * @param isMiddle of an allowance for Permit2 itself, that takes nothing but by the allowances within it
   */
  readonly held?: {
    readonly token?: string
    readonly part?: number
    readonly ofRaw: bigint
    readonly heldRaw: bigint
    readonly expires?: number
    readonly isMiddle?: boolean
  }
}

/** There is one at a time: the last that was approved stands. */
export const allowanceName = (
  { chain, network, address }: Pick<Entry, 'chain' | 'network' | 'address'>,
  { token, spender, permit2 }: Allowance,
): string =>
  `allowance ${chain}/${network}/${[address, token, spender, ...(permit2 === undefined ? [] : [permit2])].map(addressKey).join('/')}`

/** An allowance as it is named. */
export interface NamedAllowance {
  readonly chain: string
  readonly network: string
  readonly address: string
  readonly allowance: Allowance
}

const namedAllowance = /^allowance ([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/

/** Undefined: it is none by Permit2. */
export function allowanceOf(name: string): NamedAllowance | undefined {
  const [, chain, network, address, token, spender, permit2] = namedAllowance.exec(name) ?? []
  if (chain === undefined || network === undefined || address === undefined) return undefined
  if (token === undefined || spender === undefined || permit2 === undefined) return undefined
  return { chain, network, address, allowance: { token, spender, permit2 } }
}

/** By the exchange's id. */
export const orderName = ({ chain, network, connector }: RailId, orderId: string): string =>
  `order ${chain}/${network}/${connector}/${orderId}`

/** Of an exchange's signed actions, by its index in the outcome of its entry. */
export const signedOrderName = ({ key }: Pick<Entry, 'key'>, index: number): string => `order ${key} ${index}`

const isOrder = (name: string): boolean => name.startsWith('order ')

/** Of an order that has ended, for fills that are read later: what its loss was counted as, of which nothing comes back. @param isUnfilled all of it came back */
export const keptForFills = (name: string, found: Refundable, isUnfilled: boolean): readonly (readonly [string, Refundable])[] =>
  isOrder(name) && !isUnfilled && (found.amounts['loss'] ?? 0n) > 0n ? [[name, { ...found, heldRaw: 0n }]] : []

/** What is not counted any more. Rounded down. */
export function refundOf({ amounts, ofRaw, heldRaw }: Pick<Refundable, 'amounts' | 'ofRaw' | 'heldRaw'>, returnedRaw: bigint): Amounts {
  const raw = returnedRaw < heldRaw ? returnedRaw : heldRaw
  if (raw <= 0n || ofRaw <= 0n) return {}
  return Object.fromEntries(Object.entries(amounts).map(([measure, amount]) => [measure, raw >= ofRaw ? amount : (amount * raw) / ofRaw]))
}

export async function ownersOfRefundable(names: readonly string[], tx: Tx): Promise<readonly string[]> {
  if (names.length === 0) return []
  const rows = await tx.selectFrom('refundable').select('owner').distinct().where('name', 'in', names).execute()
  return rows.map(({ owner }) => owner)
}

export async function readRefundable(names: readonly string[], tx: Tx): Promise<Map<string, Refundable>> {
  return readRows(await tx.selectFrom('refundable').selectAll().where('name', 'in', names).execute())
}

/** They are there no more, whatever becomes of them. */
export async function takeRefundable(names: readonly string[], tx: Tx): Promise<Map<string, Refundable>> {
  if (names.length === 0) return new Map()
  return readRows(await tx.deleteFrom('refundable').where('name', 'in', names).returningAll().execute())
}

/** The allowances that end by themselves, by their names: those that still count, or the one of that name. */
export async function readExpiring(db: Kysely<Tables>, name?: string): Promise<Map<string, Refundable>> {
  const all = db.selectFrom('refundable').selectAll()
  const rows = await (
    name === undefined
      ? all
          .where('name', 'like', 'allowance %')
          .where('body', 'like', '%"expires"%')
          .where((where) => where.or([where('counted_at', '>=', sql<number>`${storeTime} - ${sql.lit(keptMs)}`), isStanding]))
      : all.where('name', '=', name)
  ).execute()
  return new Map([...readRows(rows)].filter(([, { expires }]) => expires !== undefined))
}

/** SQL: whether a row counts whatever its age. */
const isStanding = sql<boolean>`body like '%"standing"%'`

function readRows(rows: readonly Selectable<Tables['refundable']>[]): Map<string, Refundable> {
  return new Map(
    rows.flatMap(({ name, owner, counted_at, body }): [string, Refundable][] => {
      try {
        return [[name, { owner, ...readBody(body, counted_at) }]]
      } catch {
        // What it was counted for stays counted.
        return []
      }
    }),
  )
}

export async function keepRefundable(all: ReadonlyMap<string, Refundable>, nowMs: number, tx: Tx): Promise<void> {
  if (all.size === 0) return
  const owners = [...new Set([...all.values()].map(({ owner }) => owner))]
  await tx
    .deleteFrom('refundable')
    .where('owner', 'in', owners)
    .where('counted_at', '<', nowMs - keptMs)
    .where(({ not }) => not(isStanding))
    .execute()
  for (const some of piecesOf([...all])) await insertRefundable(some, tx)
}

/** Rows that one statement writes. */
const maxRows = 1_000

const piecesOf = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / maxRows) }, (_, index) => all.slice(index * maxRows, (index + 1) * maxRows))

async function insertRefundable(some: readonly (readonly [string, Refundable])[], tx: Tx): Promise<void> {
  const rows = some.map(([name, { owner, counted, amounts, ofRaw, heldRaw, expires, standing }]) => ({
    name,
    owner,
    counted_at: counted.atMs,
    body: JSON.stringify({
      amounts: writeAmounts(amounts),
      gained: writeAmounts(counted.gained),
      ofRaw: String(ofRaw),
      heldRaw: String(heldRaw),
      ...(expires !== undefined && { expires }),
      ...(standing && { standing: { amounts: writeAmounts(standing.amounts), ofRaw: String(standing.ofRaw) } }),
    }),
  }))
  await tx
    .insertInto('refundable')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(({ ref }) => ({
        owner: ref('excluded.owner'),
        counted_at: ref('excluded.counted_at'),
        body: ref('excluded.body'),
      })),
    )
    .execute()
}

/** @throws Error where it is not what `keepRefundable` writes */
function readBody(text: string, atMs: number): Omit<Refundable, 'owner'> {
  const body: unknown = JSON.parse(text)
  if (!isObject(body)) throw new Error('It is not an object.')
  const { amounts, gained, ofRaw, heldRaw, expires, standing } = body
  return {
    amounts: readAmounts(amounts),
    counted: { atMs, gained: readAmounts(gained) },
    ofRaw: BigInt(String(ofRaw)),
    heldRaw: BigInt(String(heldRaw)),
    ...(typeof expires === 'number' && { expires }),
    ...(isObject(standing) && { standing: readStanding(standing) }),
  }
}

const readStanding = (stored: Readonly<Record<string, unknown>>): StandingAmounts => ({
  amounts: readAmounts(stored['amounts']),
  ofRaw: BigInt(String(stored['ofRaw'])),
})
