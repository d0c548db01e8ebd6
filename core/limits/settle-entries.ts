// What was reserved for transactions that are final becomes what they did (`settlements.ts`), in the write that ends them.
import { sql, type Transaction } from 'kysely'
import { addressKey } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import type { Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { OrderEnd } from '../transactions/budgets.ts'
import { isFinal, isOfSamePlan, type Entry } from '../transactions/entry.ts'
import { bodyColumns, readBody, type BodyRow } from '../transactions/journal/entry-rows.ts'
import { countedAt, negative, refund, reserve, settle, sum, type Account, type Amounts } from './account.ts'
import { tokenMeasureOf } from './limit-checks.ts'
import {
  allowanceName,
  allowanceOf,
  keepRefundable,
  keptForFills,
  ownersOfRefundable,
  readExpiring,
  refundOf,
  signedOrderName,
  takeRefundable,
  type HeldChange,
  type Refundable,
} from './refundable.ts'
import {
  accountOf,
  besideOf,
  lagMs,
  lockAccount,
  openOf,
  readEnded,
  readReservations,
  reservationsIn,
  returnReservation,
  takeReservation,
  writeReserved,
  writeReservedOver,
  type EndedRow,
  type Reservation,
  type Reservations,
  type StoredAccount,
} from './reservations.ts'
import { actualOf, freedByOrder, standingOf, type StandingAllowance, type SettlementReader, type Steps } from './settlements.ts'

type Tx = Transaction<Tables>

/** An account whose row is locked. */
interface OpenAccount {
  account: Account
  readonly nowMs: number
  reservations: Reservations
}

/** An allowance that ended by itself, with what it still held then. */
export interface ExpiredAllowance {
  readonly name: string
  readonly expires: number
  readonly leftRaw: bigint
}

/** Each account that was written. */
type AccountsByOwner = ReadonlyMap<string, StoredAccount>

/** Of an owner what this server wrote last. */
type KnownAccount = (owner: string) => Pick<StoredAccount, 'account'> | undefined

/** @throws errors of the database alone: a transaction has to be able to end */
export async function settleEnded(
  all: readonly Entry[],
  reader: SettlementReader,
  tx: Tx,
  { kind, known }: { readonly kind: Store['kind']; readonly known: KnownAccount },
): Promise<AccountsByOwner> {
  const [only, ...more] = all
  if (kind === 'embedded' && only && more.length === 0 && holdsNothingLater(only, reader)) return settleAlone(only, { reader, known }, tx)
  // As the chain has them.
  const ended = all.toSorted((one, other) => one.nonce - other.nonce)
  const keys = ended.map(({ key }) => key)
  const reserved = await readEnded(keys, tx, kind)
  const isReserved = ({ key }: Entry) => reserved.some(({ entry_key }) => entry_key === key)
  // What ends an order or an allowance may be of a client without limits. What begins one is not.
  const tells = (entry: Entry) =>
    entry.permits !== undefined || (entry.landed?.ok === true && (entry.kind !== 'order' || isReserved(entry)))
  const changes = new Map(ended.filter(tells).map((entry) => [entry.key, reader.heldChanges(entry)]))
  const names = [...new Set([...changes.values()].flat().map(({ name }) => name))]
  const owners = new Set([...reserved.map(({ owner }) => owner), ...(await ownersOfRefundable(names, tx))])
  const accounts = await openAccounts(owners, { keys, known: reserved }, tx, kind)
  if (accounts.size === 0) return accounts
  const refundable = await takeRefundable(names, tx)
  for (const entry of ended) {
    const ofEntry = changes.get(entry.key) ?? []
    for (const { name, returnedRaw } of ofEntry) {
      const found = refundable.get(name)
      refundable.delete(name)
      const open = found && accounts.get(found.owner)
      if (!open) continue
      // Whether a permit is used nobody can tell: what was approved before may stand beside it, and what the chain shows is not of that alone.
      if (found.standing && entry.permits !== undefined) refundable.set(name, { ...found, heldRaw: 0n })
      else {
        open.account = endOf(found, returnedRaw, open)
        for (const [kept, of] of keptForFills(name, found, returnedRaw !== undefined && returnedRaw >= found.heldRaw))
          refundable.set(kept, of)
      }
    }
    for (const [owner, open] of accounts) {
      const before = await earlierSteps(entry, open, ended, tx)
      const changesOf = (step: Entry) => (step.key === entry.key ? ofEntry : reader.heldChanges(step))
      const given = settleEntry(entry, { before, changesOf }, open, reader)
      for (const { name, ...kept } of given ? keptOf(entry, given, ofEntry) : [])
        refundable.set(name, { ...kept, owner, counted: countedAt(open.account, kept.amounts, { nowMs: open.nowMs, lagMs }) })
    }
  }
  for (const [owner, open] of accounts) await writeOpen(owner, open, tx, kind)
  await sql`delete from reservations where owner in (${sql.join([...accounts.keys()])}) and entry_key in (${sql.join(keys)})`.execute(tx)
  await keepRefundable(refundable, Math.max(...[...accounts.values()].map(({ nowMs }) => nowMs)), tx)
  return accounts
}

/** Neither an allowance nor an order begins or ends with it. */
const holdsNothingLater = (entry: Entry, reader: SettlementReader): boolean =>
  entry.kind !== 'approve' &&
  entry.kind !== 'order' &&
  entry.permits === undefined &&
  (entry.landed?.ok !== true || reader.heldChanges(entry).length === 0)

/** In the embedded store, where nobody else writes meanwhile: two statements, which read no account that this server knows. */
async function settleAlone(
  entry: Entry,
  { reader, known }: { reader: SettlementReader; known: KnownAccount },
  tx: Tx,
): Promise<AccountsByOwner> {
  const row = await takeReservation(entry.key, tx)
  if (!row) return new Map()
  const { owner, now: nowMs } = row
  try {
    const beside = row.beside === 0 ? [] : await besideOf(row, tx)
    const reservations = reservationsIn(owner, [row, ...beside])
    const settledFrom = async (account: Account): Promise<OpenAccount> => {
      const open = { account, nowMs, reservations }
      const before = await earlierSteps(entry, open, [entry], tx)
      settleEntry(entry, { before, changesOf: (step) => (step.key === entry.key ? [] : reader.heldChanges(step)) }, open, reader)
      return open
    }
    const before = known(owner)?.account
    const settled = before && (await settledFrom(before))
    if (settled && (await writeReservedOver(before, { owner, account: settled.account, held: new Map() }, tx)))
      return new Map([[owner, settled]])
    const stored = await settledFrom((await lockAccount(owner, tx, 'embedded')).account)
    await writeOpen(owner, stored, tx, 'embedded')
    return new Map([[owner, stored]])
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    // What cannot be read stays as it is.
    await returnReservation(row, tx)
    return new Map()
  }
}

/**
 * An exchange of signed actions says that an order has ended: what was not filled is counted no more, nor is what its fill cost less than its price.
 * @param reference the symbol of the reference token
 */
export async function settleOrder(
  { entry, index, ...end }: OrderEnd,
  reference: string | undefined,
  tx: Tx,
  kind: Store['kind'],
): Promise<AccountsByOwner> {
  const names = [signedOrderName(entry, index)]
  const accounts = await openAccounts(new Set(await ownersOfRefundable(names, tx)), nothingEnded, tx, kind)
  for (const [name, found] of await takeRefundable(names, tx)) {
    const open = accounts.get(found.owner)
    if (!open) continue
    open.account = refund(open.account, freedByOrder(found, end, reference), found.counted)
    await writeOpen(found.owner, open, tx, kind)
    await keepRefundable(new Map(keptForFills(name, found, end.unfilled.numerator >= end.unfilled.denominator)), open.nowMs, tx)
  }
  return accounts
}

/**
 * What it still held as it ended is counted no more, unless it was set anew meanwhile. Not while a transaction of the wallet is open that sets one, or has a permit
 * of it: what the chain says may be of that one, and its end says what becomes of what was held before.
 */
export async function settleExpired({ name, expires, leftRaw }: ExpiredAllowance, tx: Tx, kind: Store['kind']): Promise<AccountsByOwner> {
  const accounts = await openAccounts(new Set(await ownersOfRefundable([name], tx)), nothingEnded, tx, kind)
  const found = (await readExpiring(tx, name)).get(name)
  const open = found && accounts.get(found.owner)
  if (!found || !open || found.expires !== expires || (await isBeingSet(name, tx))) return new Map()
  await takeRefundable([name], tx)
  open.account = endOf(found, leftRaw, open)
  await writeOpen(found.owner, open, tx, kind)
  return accounts
}

async function isBeingSet(name: string, tx: Tx): Promise<boolean> {
  const named = allowanceOf(name)
  if (!named) return false
  const { chain, network, address } = named
  const rows = await tx
    .selectFrom('entries')
    .select([...bodyColumns, 'kind'])
    .where(sql<boolean>`final = 0`)
    .where('kind', 'in', ['approve', 'trade'])
    .where('chain', '=', chain)
    .where('network', '=', network)
    .where('address', '=', address)
    .execute()
  return rows.some((row) => row.kind === 'approve' || givesByPermit(row, name))
}

/** What cannot be read may give it. */
function givesByPermit(row: BodyRow, name: string): boolean {
  try {
    const entry = readBody(row)
    return (entry.permits ?? []).some((each) => allowanceName(entry, each) === name)
  } catch {
    return true
  }
}

const writeOpen = (owner: string, { account }: OpenAccount, tx: Tx, kind: Store['kind']): Promise<void> =>
  writeReserved({ owner, account, held: new Map() }, tx, kind)

interface EndedKeys {
  readonly keys: readonly string[]
  /** Of these keys, as they were read in this write. */
  readonly known: readonly EndedRow[]
}

const nothingEnded: EndedKeys = { keys: [], known: [] }

/** In one order on all servers. What cannot be read stays as it is. */
async function openAccounts(owners: ReadonlySet<string>, ended: EndedKeys, tx: Tx, kind: Store['kind']): Promise<Map<string, OpenAccount>> {
  const accounts = new Map<string, OpenAccount>()
  for (const owner of [...owners].toSorted())
    try {
      accounts.set(owner, (kind === 'embedded' && openKnown(owner, ended.known)) || (await openLocked(owner, ended.keys, tx, kind)))
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
    }
  return accounts
}

/** In the embedded store nobody else writes meanwhile. Undefined where its row is missing. @throws SluiceError SERVICE_UNINITIALIZED */
function openKnown(owner: string, known: readonly EndedRow[]): OpenAccount | undefined {
  const rows = known.filter((each) => each.owner === owner)
  const first = rows.find(({ account }) => account !== null)
  if (!first || first.account === null) return undefined
  return { account: accountOf(owner, { body: first.account }), nowMs: first.now, reservations: reservationsIn(owner, rows) }
}

async function openLocked(owner: string, keys: readonly string[], tx: Tx, kind: Store['kind']): Promise<OpenAccount> {
  const locked = await lockAccount(owner, tx, kind)
  return { ...locked, reservations: keys.length === 0 ? new Map() : await readReservations(owner, keys, tx) }
}

/**
 * What it was counted for has ended: what came back counts no more. What was taken of an allowance that stood until now counts from now on, since nobody
 * knows since when.
 */
function endOf(found: Refundable, returnedRaw: bigint | undefined, { account, nowMs }: OpenAccount): Account {
  const { standing, heldRaw } = found
  const refunded = returnedRaw === undefined ? account : refund(account, refundOf(found, returnedRaw), found.counted)
  if (!standing) return refunded
  const freed = refundOf({ ...standing, heldRaw }, returnedRaw ?? 0n)
  return settle(refunded, standing.amounts, sum(standing.amounts, negative(freed)), { nowMs, lagMs })
}

/** What it gives away counts from now on, and is held no more, but for what an allowance may lose. @returns undefined where nothing was reserved for it */
function settleEntry(entry: Entry, steps: Steps, open: OpenAccount, reader: SettlementReader): Settlement | undefined {
  const { reservations } = open
  const reservation = reservations.get(entry.key)
  if (!reservation) return undefined
  const others = new Map([...reservations].filter(([key]) => key !== entry.key))
  const freed = sum(openOf(reservations), negative(openOf(others)))
  const { fees, amounts: actual } = actualOf(entry, steps.before, reservation, reader)
  const standing = standingOf(entry, actual, steps)
  const stands = [...standing.values()].map(({ amounts }) => amounts).reduce(sum, {})
  const rest = sum(actual, negative(stands))
  const amounts = standing.size === 0 ? actual : Object.fromEntries(Object.entries(rest).filter(([, raw]) => raw > 0n))
  open.account = reserve(settle(open.account, freed, { ...fees, ...amounts }, { nowMs: open.nowMs, lagMs }), stands)
  open.reservations = others
  return { reservation, amounts, standing }
}

interface Settlement {
  readonly reservation: Reservation
  /** What counts beside fees, in the hour and the day. */
  readonly amounts: Amounts
  /** What counts as long as allowances stand, by their names. */
  readonly standing: ReadonlyMap<string, StandingAllowance>
}

type KeptAmounts = Omit<Refundable, 'owner' | 'counted'> & { readonly name: string }

function keptOf(entry: Entry, settlement: Settlement, changes: readonly HeldChange[]): readonly KeptAmounts[] {
  const kept = new Map(countedOf(entry, settlement, changes).map((each) => [each.name, each]))
  for (const [name, { expires, ...standing }] of settlement.standing) {
    const { ofRaw } = standing
    const other = kept.get(name) ?? { name, amounts: {}, ofRaw, heldRaw: ofRaw, ...(expires !== undefined && { expires }) }
    kept.set(name, { ...other, standing })
  }
  return [...kept.values()]
}

/** What of an entry may still come back of its hour and its day. Of several at once that hold no parts nobody can say which part counts for which. */
function countedOf(entry: Entry, { reservation, amounts }: Settlement, changes: readonly HeldChange[]): readonly KeptAmounts[] {
  const all = changes.filter(({ held }) => held)
  return all.flatMap(({ name, held }) => {
    if (!held || (all.length > 1 && held.part === undefined)) return []
    const { token, part, ofRaw, heldRaw, expires } = held
    const counted = part === undefined ? amounts : (reservation.parts?.get(part) ?? {})
    const kept = Object.fromEntries(Object.entries(counted).filter(([, raw]) => raw > 0n))
    if (Object.keys(kept).length === 0) return []
    // A plan may approve several spenders, and its last step holds the sum.
    const reservedRaw = token === undefined ? 0n : (reservation.amounts[tokenMeasureOf(entry, token)] ?? reservation.gives[token] ?? 0n)
    return [{ name, amounts: kept, ofRaw: reservedRaw > ofRaw ? reservedRaw : ofRaw, heldRaw, ...(expires !== undefined && { expires }) }]
  })
}

/** Of a plan's last step, all before it; undefined unless they are final. What the whole plan gives is held by the last step. */
async function earlierSteps(
  entry: Entry,
  { reservations }: OpenAccount,
  ended: readonly Entry[],
  tx: Tx,
): Promise<readonly Entry[] | undefined> {
  const { part, requestId, key, chain, network, address } = entry
  if (part.of === 1) return []
  if (part.index < part.of - 1 || !reservations.has(key)) return undefined
  // They were made together, so they are the last before it: a client may give all of its requests the same id.
  const rows = await tx
    .selectFrom('entries')
    .select(bodyColumns)
    .where((where) => where.and({ request_id: requestId, chain, network, address: addressKey(address) }))
    .where('key', '<', key)
    .orderBy('key', 'desc')
    .limit(part.index)
    .execute()
  const now = new Map(ended.map((entry) => [entry.key, entry]))
  const known = rows.flatMap((row): Entry[] => {
    try {
      return [now.get(row.key) ?? readBody(row)]
    } catch {
      return []
    }
  })
  const before = known.filter((each) => isOfSamePlan(each, entry) && each.part.index < part.index && isFinal(each))
  return before.length === part.index ? before : undefined
}
