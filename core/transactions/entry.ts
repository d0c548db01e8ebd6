// A transaction in the journal: what it is, how it changes, and how it stands in the rows of the store.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { compileOnUse } from '../base/lazy-check.ts'
import { transactionKinds, transactionStates } from '../api/transactions.ts'
import type { Json, RefusalMeaning, Transaction } from '../contracts/index.ts'
import type { Cost } from './costs.ts'
import type { RequestWords } from './entry-terms.ts'
import type { PlacedOrder } from './order-fills.ts'
import { filtersOf } from '../store/entry-filters.ts'
import { digest, hashBytes, pack, unpack, walletNumber } from '../store/compact.ts'
import type { ArchivedRow, EntryRow, EventRow, HashRow, StoredBytes } from '../store/tables.ts'
import { addressKey } from '../base/addresses.ts'

/**
 * QUEUED → SIGNED → BROADCAST → MINED → CONFIRMED, or one of the other final states. A reorganisation moves MINED back to BROADCAST; a final
 * state never changes.
 */
export type TransactionState = 'QUEUED' | 'SIGNED' | 'BROADCAST' | 'MINED' | FinalState
type FinalState = 'CONFIRMED' | 'REVERTED' | 'REPLACED' | 'CANCELLED' | 'DROPPED' | 'OVERTAKEN' | 'EXPIRED'

export type Kind = (typeof transactionKinds)[number]

/** One transaction in the journal: the request, and what became of it. Each step of a plan has its own entry. */
export interface Entry {
  /** Sorts by age. */
  readonly key: string
  /** Rises by one with every write. A write of an old version is refused. */
  readonly version: number

  readonly chain: string
  readonly network: string
  readonly address: string
  readonly kind: Kind
  /** It takes back what is at stake: a close, a removal, a repayment, a revocation. It goes through where only that may. */
  readonly reduces?: true
  readonly connector?: string
  /** The version of the connector's plugin that planned it, where it is of a third party: the beginning of its hash. */
  readonly plugin?: string
  /** Only on a connector's own rail: whose key signs. */
  readonly signer?: string
  /** The caller's id: the key of its entry in `conf/clients.yml`. */
  readonly client: string
  /** Of a fill or cancel that the server makes by itself: the client that caused it. Its fees count for that client, and are never refused. */
  readonly paidBy?: string
  readonly requestId: string
  readonly idempotencyKey?: string
  /** The request in its own words. Absent: the server does it by itself, or an earlier version made it. */
  readonly request?: RequestWords
  /** What its answer said that it does, without gas, nonces and hashes: see `plannedOf`. Of a plan with several steps the last one has it. */
  readonly planned?: Json
  /** Of a trade: what it was quoted by. */
  readonly quote?: Json
  /** What the whole plan would do to its wallet by its simulation before it was signed, as `movements`. Of a plan with several steps the last one has it. */
  readonly simulated?: Readonly<Record<string, string>>
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number

  /** The step's index in the plan, from 0, and the number of steps. */
  readonly part: { readonly index: number; readonly of: number }
  /** What was signed. On a chain's rail it is gone once the entry is final: the chain has it. */
  readonly step: Json
  /** The plan's memo: `fill` reads the outcome with it. */
  readonly memo: Json
  /** The handler's own data, to show the outcome in the caller's terms. */
  readonly about: Json
  /**
   * What the whole plan may do to the wallet, by token address: it gains so much at least, smallest units; below 0 it loses so much at most. It loses
   * nothing of other tokens. Absent where nobody has to hold it against the receipt: of built-in connectors, of core's own steps, and once
   * it is final.
   */
  readonly bounds?: Readonly<Record<string, string>>
  /** Seconds since the Unix epoch. */
  readonly deadline?: number

  /** What orders or excludes attempts: a nonce, or a blockhash. Only the rail reads it. */
  readonly sequence: Json
  readonly nonce: number
  /** The caller chose the nonce: gaps below it are the caller's to fill. */
  readonly sequenceGiven: boolean
  /** The caller set the fees: the server does not raise them. */
  readonly feesGiven: boolean
  /** Its bytes go to relays, and to no public node: those of each attempt, and of what replaces it. */
  readonly privateOnly?: true
  /** The rights over tokens that the wallet gives by signatures within its calldata. */
  readonly permits?: readonly JournaledPermit[]
  /** How many of our transactions had the same sequence before. The later one replaces the earlier one. */
  readonly rank: number

  readonly state: TransactionState
  /** All with one sequence, so that at most one is ever mined. */
  readonly attempts: readonly Attempt[]
  /**
   * The last observation of the mempool: pending and pays enough, pending and pays too little, or no longer there. Absent: never seen
   * there.
   */
  readonly seen?: 'pays' | 'underpriced' | 'lost'
  readonly landed?: BlockOfAttempt
  /** What it brought, where only a plugin of a third party can read it from receipt and memo: read when it became final. */
  readonly outcome?: Json
  /**
   * What it moved into (above 0) and out of its wallet, by token address (or `address/id`), smallest units, without fees: read when it became final.
   * null: it may have moved the native coin, and nobody could tell how much. Absent: nothing tells it, or an earlier version made it final.
   */
  readonly movements?: Readonly<Record<string, string | null>>
  /** Hash of the transaction that is to replace it, or did. */
  readonly replacedBy?: string
  /** How many polls in a row found it dead. */
  readonly deadLooks: number
  /** The newest block at the first of those polls. */
  readonly deadSince?: number
  /** Why it failed, or the last error of a node. */
  readonly reason?: string
  /** The orders in books that it placed, where it is listed: they stand in rows of their own, and are filled after it is final. */
  readonly orders?: readonly PlacedOrder[]
  /** It left the journal: this is its outcome. Calls, memo, signed bytes and receipt are empty here; the archive's file has them. An outcome that was journaled stays. */
  readonly archived?: true
}

/**
 * `outstanding` from before it is signed: whoever sees the signature may use it, also where the transaction is never mined. `used`: the contract's
 * nonce is past it. `expired`: by the time of a block. Both once that is final; then it never changes again.
 */
export type PermitState = (typeof permitStates)[number]
export const permitStates = ['outstanding', 'used', 'expired'] as const

/** A right by a signature: see `Permit`. */
export interface JournaledPermit {
  readonly permit2: string
  readonly token: string
  /** Of the token, to show the amount. */
  readonly decimals: number
  readonly spender: string
  readonly amountRaw: string
  /** Seconds since the Unix epoch. */
  readonly expires: number
  readonly nonce: number
  readonly state: PermitState
  /** The block at which it was first seen used or expired. */
  readonly since?: number
}

/** Whether somebody may still use a right that it gave. */
export const hasOutstanding = ({ permits = [] }: Pick<Entry, 'permits'>): boolean => permits.some(({ state }) => state === 'outstanding')

/** Signed bytes. They are sent only after they are in the journal. */
export interface Attempt {
  /** The transaction's hash. */
  readonly id: string
  /** Empty once the entry is final: then nobody sends them again. */
  readonly raw: Uint8Array
  readonly fees: Json
  /** Milliseconds since the Unix epoch. */
  readonly signedAt: number
  /** The last broadcast; absent before the first. */
  readonly sentAt?: number
  /** The number of broadcasts. */
  readonly sends: number
  /** Those since it was lost; absent if it never was. */
  readonly sendsSinceLost?: number
  /** Why all nodes refused it the last time; absent if one accepted it, or if that is unknown. */
  readonly refused?: RefusalMeaning
}

/** The block of an attempt. */
interface BlockOfAttempt {
  /** The attempt's id. */
  readonly id: string
  readonly ok: boolean
  readonly blockNumber: number
  readonly blockHash?: string
  readonly receipt: Json
  /** Absent where the receipt does not say all of it, as that of an exchange's own rail. */
  readonly cost?: Cost
}

/** Final without any effect on the chain. */
const withoutEffect: ReadonlySet<TransactionState> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])
const finalStates: ReadonlySet<TransactionState> = new Set([...withoutEffect, 'CONFIRMED', 'REVERTED'])

export const isFinal = ({ state }: Pick<Entry, 'state'>): boolean => finalStates.has(state)

/** The address whose key signs it, and whose queue it is in. */
export const signerOf = ({ address, signer = address }: Pick<Entry, 'address' | 'signer'>): string => signer

/** Names the block that its transaction is in: after a reorganisation it is another one. */
export const landedId = ({ landed }: Entry): string => `${landed?.id} ${landed?.blockHash ?? landed?.blockNumber}`

/** An entry that would be final and waits for something: as it was, where it is mined in the same block already. */
export const heldAsMined = (before: Entry, after: Entry): Entry =>
  before.state === 'MINED' && landedId(before) === landedId(after) ? before : { ...after, state: 'MINED' }

/** The hash of the attempt that landed, or of the newest; undefined before it is signed. */
export const txHashOf = ({ landed, attempts }: Pick<Entry, 'landed' | 'attempts'>): string | undefined => landed?.id ?? attempts.at(-1)?.id

/** Hashes in hexadecimal are the same in upper and lower case. In base58 they are not. */
export const canonicalHash = (txHash: string): string => (/^0x/i.test(txHash) ? txHash.toLowerCase() : txHash)

/** Where transactions are sent: a network, or an exchange's own rail on it. */
export interface RailId {
  readonly chain: string
  readonly network: string
  /** The exchange whose own rail it is; absent: the chain's rail. */
  readonly connector?: string
}

export const railOf = ({ chain, network, connector, signer }: Pick<Entry, 'chain' | 'network' | 'connector' | 'signer'>): RailId =>
  signer === undefined ? { chain, network } : { chain, network, connector }

export const railName = ({ chain, network, connector }: RailId): string =>
  connector === undefined ? `${chain}/${network}` : `${chain}/${network}/${connector}`

/** @param address the wallet's, or the signer's on an exchange's own rail */
export const queueName = (rail: RailId, address: string): string => `${railName(rail)}/${address}`

/** -1 certain never to be mined, 0 accepted by the server, 1 mined, 2 pending and pays enough, 3 pending and pays too little. */
export type TxStatus = -1 | 0 | 1 | 2 | 3

/**
 * The number that `/network/poll` shows for a journaled transaction.
 * @param found the transaction on the chain now, if the chain was asked
 */
export function txStatus({ state, landed, replacedBy, seen }: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus {
  if (landed || found?.blockNumber !== undefined) return 1
  if (withoutEffect.has(state)) return -1
  // The replacement is not final, so it may still be mined.
  if (replacedBy !== undefined || seen === 'lost') return 3
  if (found) return found.pays === false ? 3 : 2
  if (seen === undefined) return 0
  return seen === 'pays' ? 2 : 3
}

/** @param queue `Lease.queue` */
export function entryRow(entry: Entry, queue: string): EntryRow {
  const { key, version, chain, network, connector, signer, state, nonce, requestId, idempotencyKey } = entry
  const address = addressKey(entry.address)
  return {
    key,
    version,
    // Nobody looks for the queue of a final one, but for rights that outlive it.
    lane: isFinal(entry) && !hasOutstanding(entry) ? '' : queue,
    chain,
    network,
    address,
    wallet: walletNumber(address, entry),
    via: signer === undefined ? null : (connector ?? null),
    signer: signer === undefined ? null : addressKey(signer),
    state,
    final: isFinal(entry) ? 1 : 0,
    nonce,
    request_id: requestId,
    idempotency_key: idempotencyKey ?? null,
    shown: digest(shownOf(entry)),
    ...filtersOf({ ...entry }),
    body: writeBody(entry),
  }
}

/** What callers see of an entry. There is no event where this stays the same, as when the same bytes are sent again. */
function shownOf(entry: Entry): string {
  const { state, landed, replacedBy, reason } = entry
  return JSON.stringify([state, txHashOf(entry) ?? null, landed?.blockNumber ?? null, replacedBy ?? null, reason ?? null])
}

export function hashRows(entries: readonly Entry[]): HashRow[] {
  return entries.flatMap(({ key, chain, network, attempts }) =>
    attempts.map(({ id }) => ({ hash: hashBytes(canonicalHash(id)), chain, network, entry_key: key })),
  )
}

/** What the store keeps of an archived entry: what callers see of it. */
export function archivedRow(entry: Entry): ArchivedRow {
  const { key, chain, network, address, requestId, idempotencyKey, landed } = entry
  const attempts = entry.attempts.map((each) => ({ ...each, raw: new Uint8Array(), fees: null }))
  const outcome = { ...entry, step: null, memo: null, about: null, attempts, ...(landed && { landed: { ...landed, receipt: null } }) }
  return {
    key,
    chain,
    network,
    address: addressKey(address),
    request_id: requestId,
    idempotency_key: idempotencyKey ?? null,
    ...filtersOf({ ...entry }),
    body: writeBody(outcome),
  }
}

/** @throws Error that names the key, if the text is not what `archivedRow` makes */
export const readArchivedBody = (row: BodyRow): Entry => ({ ...readBody(row), archived: true })

/** Any JSON value. */
const AnyJson = Type.Any()
const RawAmount = Type.String({ pattern: '^[0-9]{1,78}$' })
const State = Type.Union(transactionStates.map((each) => Type.Literal(each)))
const Seen = Type.Union((['pays', 'underpriced', 'lost'] as const).map((each) => Type.Literal(each)))

const StoredCost = Type.Object({ feeRaw: RawAmount, gasUsed: Type.Optional(RawAmount), layer1FeeRaw: Type.Optional(RawAmount) })

/** An entry as it is stored. Its keys never change. */
const Body = compileOnUse(
  Type.Object({
    version: Type.Integer(),
    chain: Type.String(),
    network: Type.String(),
    address: Type.String(),
    kind: Type.Union(transactionKinds.map((each) => Type.Literal(each))),
    reduces: Type.Optional(Type.Literal(true)),
    connector: Type.Optional(Type.String()),
    plugin: Type.Optional(Type.String()),
    signer: Type.Optional(Type.String()),
    client: Type.String(),
    paidBy: Type.Optional(Type.String()),
    request: Type.Optional(Type.Object({ path: Type.String(), fields: Type.Record(Type.String(), AnyJson) })),
    planned: Type.Optional(AnyJson),
    quote: Type.Optional(AnyJson),
    simulated: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: '^-?[0-9]{1,100}$' }))),
    createdAt: Type.Number(),
    updatedAt: Type.Number(),
    part: Type.Object({ index: Type.Integer(), of: Type.Integer() }),
    step: AnyJson,
    memo: AnyJson,
    about: AnyJson,
    bounds: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: '^-?[0-9]+$' }))),
    deadline: Type.Optional(Type.Number()),
    sequence: AnyJson,
    nonce: Type.Number(),
    sequenceGiven: Type.Boolean(),
    feesGiven: Type.Boolean(),
    privateOnly: Type.Optional(Type.Literal(true)),
    permits: Type.Optional(
      Type.Array(
        Type.Object({
          permit2: Type.String(),
          token: Type.String(),
          decimals: Type.Integer(),
          spender: Type.String(),
          amountRaw: Type.String({ pattern: '^[0-9]+$' }),
          expires: Type.Integer(),
          nonce: Type.Integer(),
          state: Type.Union(permitStates.map((each) => Type.Literal(each))),
          since: Type.Optional(Type.Integer()),
        }),
      ),
    ),
    rank: Type.Number(),
    state: State,
    attempts: Type.Array(
      Type.Object({
        id: Type.String(),
        raw: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2})*$' })),
        fees: AnyJson,
        signedAt: Type.Number(),
        sentAt: Type.Optional(Type.Number()),
        sends: Type.Number(),
        sendsSinceLost: Type.Optional(Type.Number()),
        refused: Type.Optional(
          Type.Union(
            (['sequence-used', 'sequence-ahead', 'underpriced', 'outbid', 'unfunded', 'not-now', 'invalid'] as const).map((each) =>
              Type.Literal(each),
            ),
          ),
        ),
      }),
    ),
    seen: Type.Optional(Seen),
    landed: Type.Optional(
      Type.Object({
        id: Type.String(),
        ok: Type.Boolean(),
        blockNumber: Type.Number(),
        receipt: AnyJson,
        cost: Type.Optional(StoredCost),
      }),
    ),
    /** Where earlier versions kept it once an entry was archived. */
    cost: Type.Optional(StoredCost),
    outcome: Type.Optional(AnyJson),
    movements: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String({ pattern: '^-?[0-9]{1,100}$' }), Type.Null()]))),
    replacedBy: Type.Optional(Type.String()),
    deadLooks: Type.Number(),
    reason: Type.Optional(Type.String()),
  }),
)

/**
 * An entry as packed JSON, its signed bytes in hexadecimal, without the ids that the row has. A final one is stored without signed bytes, and without calls where the chain has
 * them; an exchange's own rail has no chain to ask.
 */
function writeBody({ key: _key, requestId: _requestId, idempotencyKey: _idempotencyKey, orders: _orders, ...whole }: Entry): StoredBytes {
  const { attempts, ...entry } = whole
  const final = isFinal(whole)
  return pack(
    JSON.stringify({
      ...entry,
      step: final && entry.signer === undefined ? null : entry.step,
      bounds: final ? undefined : entry.bounds,
      attempts: attempts.map(({ raw, ...each }) => (final ? each : { ...each, raw: Buffer.from(raw).toString('hex') })),
    }),
  )
}

/** What an entry is read from. */
export type BodyRow = Pick<EntryRow, (typeof bodyColumns)[number]>
export const bodyColumns = ['key', 'request_id', 'idempotency_key', 'body'] as const

/** @throws Error that names the key, if the bytes are not what `writeBody` makes */
export function readBody({ key, request_id: requestId, idempotency_key: idempotencyKey, body }: BodyRow): Entry {
  const stored = parse(body)
  if (!Body.Check(stored)) {
    const [first] = Body.Errors(stored)
    const where = stored === undefined ? 'its bytes are damaged' : `${first?.instancePath || 'it'} ${first?.message ?? 'is not an entry'}`
    throw new Error(`The journal's entry ${key} cannot be read: ${where}. Restore the store from a copy, or remove that row.`)
  }
  const { attempts, cost, ...entry } = stored
  // Into the copy that is there: another one of an object with so many keys takes longer than its check.
  const { landed } = entry
  if (landed && !landed.cost && cost) landed.cost = cost
  return Object.assign(entry, {
    key,
    requestId,
    ...(idempotencyKey !== null && { idempotencyKey }),
    attempts: attempts.map(({ raw, ...each }) =>
      Object.assign(each, { raw: raw === undefined ? new Uint8Array() : new Uint8Array(Buffer.from(raw, 'hex')) }),
    ),
  })
}

function parse(body: StoredBytes): unknown {
  try {
    return JSON.parse(unpack(body))
  } catch {
    return undefined
  }
}

/**
 * What an event has of its own; the rest is in its entry, which only grows: version, milliseconds since the entry was made, state, how often
 * each attempt was sent, what the mempool said, the block (attempt, 1 for success, number), what replaces it, and why. Nulls at its end are left
 * out.
 */
const ChangeSchema = Type.Tuple([
  Type.Integer(),
  Type.Number(),
  State,
  Type.Array(Type.Number()),
  Type.Union([Seen, Type.Null()]),
  Type.Union([Type.Tuple([Type.Union([Type.Integer({ minimum: 0 }), Type.String()]), Type.Integer(), Type.Number()]), Type.Null()]),
  Type.Union([Type.String(), Type.Null()]),
  Type.Union([Type.String(), Type.Null()]),
])
const Change = compileOnUse(ChangeSchema)
const changeLength = 8

/** States as events have them. These numbers are in the store for years: a new state has a new one. */
const stateNumbers: Readonly<Record<TransactionState, number>> = {
  QUEUED: 0,
  SIGNED: 1,
  BROADCAST: 2,
  MINED: 3,
  CONFIRMED: 4,
  REVERTED: 5,
  REPLACED: 6,
  CANCELLED: 7,
  DROPPED: 8,
  OVERTAKEN: 9,
  EXPIRED: 10,
}
const stateOfNumber = new Map(Object.entries(stateNumbers).map(([state, number]) => [number, state]))

export function eventRow(entry: Entry): Pick<EventRow, 'entry_key' | 'wallet'> & { change: string } {
  const { key, version, createdAt, updatedAt, state, attempts, seen = null, landed, replacedBy = null, reason = null } = entry
  const index = attempts.findIndex(({ id }) => id === landed?.id)
  const block = landed ? [index === -1 ? landed.id : index, landed.ok ? 1 : 0, landed.blockNumber] : null
  const change = [version, updatedAt - createdAt, stateNumbers[state], attempts.map(({ sends }) => sends), seen, block, replacedBy, reason]
  while (change.at(-1) === null) change.pop()
  return { entry_key: key, wallet: walletNumber(addressKey(entry.address)), change: JSON.stringify(change) }
}

/**
 * The transaction as it was at an event, without what callers are not told: calls, signed bytes, receipts.
 * @param entry as it is now
 * @throws Error that names the key, if the text is not what `eventRow` makes
 */
export function readEvent(entry: Entry, text: string): Entry {
  const change = parseChange(text)
  if (!change || change[3].length > entry.attempts.length)
    throw new Error(`An event of the journal's entry ${entry.key} cannot be read. Restore the store from a copy, or remove that row.`)
  const [version, age, state, sends, seen, block, replacedBy, reason] = change
  const { seen: _seen, landed, outcome, movements, planned, replacedBy: _replacedBy, reason: _reason, ...rest } = entry
  const attempts = entry.attempts.slice(0, sends.length).map((each, index) => ({ ...each, raw: noBytes, sends: sends[index] ?? 0 }))
  const id = block && (typeof block[0] === 'string' ? block[0] : attempts[block[0]]?.id)
  // A final state never changes: its event tells what the entry does.
  const ended = isFinal({ state }) ? { cost: landed?.cost, outcome, movements } : undefined
  return {
    ...rest,
    version,
    updatedAt: entry.createdAt + age,
    state,
    step: null,
    memo: null,
    about: null,
    attempts,
    ...(seen !== null && { seen }),
    ...(block &&
      typeof id === 'string' && {
        landed: { id, ok: block[1] === 1, blockNumber: block[2], receipt: null, ...(ended?.cost && { cost: ended.cost }) },
      }),
    ...(replacedBy !== null && { replacedBy }),
    ...(reason !== null && { reason }),
    // It is written with the signature: an event is the same whenever it is read.
    ...(planned !== undefined && attempts.length > 0 && { planned }),
    ...(ended?.outcome !== undefined && { outcome: ended.outcome }),
    ...(ended?.movements && { movements: ended.movements }),
  }
}

const noBytes = new Uint8Array()

function parseChange(text: string): Static<typeof ChangeSchema> | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    if (!Array.isArray(stored)) return undefined
    const change = [...stored, ...Array.from({ length: changeLength - stored.length }, () => null)]
    change[2] = stateOfNumber.get(change[2]) ?? change[2]
    return Change.Check(change) ? change : undefined
  } catch {
    return undefined
  }
}
