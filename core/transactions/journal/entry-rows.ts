// An entry in the rows of the store, in the journal and once it is archived.
import * as Type from 'typebox'
import { firstProblem, fits } from '../../base/schema-check.ts'
import { transactionKinds, transactionStates } from '../../api/transactions.ts'
import { addressKey, canonicalHash } from '../../base/addresses.ts'
import { isObject } from '../../base/json.ts'
import { digest, hashBytes, isInTwo, pack, packInTwo, unpack, unpackBoth, unpackFirst } from '../../store/compact.ts'
import { filtersOf } from '../../store/entry-filters.ts'
import type { ArchivedRow, EntryRow, HashRow, StoredBytes } from '../../store/tables.ts'
import { hasOutstanding, isFinal, permitStates, txHashOf, type Entry } from '../entry.ts'

/** @param queue `Lease.queue` */
export function entryRow(entry: Entry, queue: string): EntryRow {
  const { key, version, chain, network, connector, signer, state, nonce, requestId, idempotencyKey } = entry
  return {
    key,
    version,
    // Nobody looks for the queue of a final one, but for rights that outlive it.
    lane: isFinal(entry) && !hasOutstanding(entry) ? '' : queue,
    chain,
    network,
    address: addressKey(entry.address),
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
export const readArchivedBody = (row: BodyRow): Entry => Object.assign(readBody(row), { archived: true as const })

/** Any JSON value. */
const AnyJson = Type.Any()
const RawAmount = Type.String({ pattern: '^[0-9]{1,78}$' })
export const StoredState = Type.Union(transactionStates.map((each) => Type.Literal(each)))
export const StoredSeen = Type.Union((['pays', 'underpriced', 'lost'] as const).map((each) => Type.Literal(each)))

const StoredCost = Type.Object({
  feeRaw: RawAmount,
  gasUsed: Type.Optional(RawAmount),
  layer1FeeRaw: Type.Optional(RawAmount),
  rentRaw: Type.Optional(RawAmount),
})

/** An entry as it is stored. Its keys never change. */
const Body = Type.Object({
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
  after: Type.Optional(Type.Number()),
  ends: Type.Optional(Type.Number()),
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
  newAccounts: Type.Optional(Type.Record(Type.String(), Type.String())),
  rank: Type.Number(),
  state: StoredState,
  attempts: Type.Array(
    Type.Object({
      id: Type.String(),
      raw: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2})*$' })),
      fees: AnyJson,
      signedAt: Type.Number(),
      sentAt: Type.Optional(Type.Number()),
      sends: Type.Number(),
      node: Type.Optional(Type.String()),
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
  seen: Type.Optional(StoredSeen),
  landed: Type.Optional(
    Type.Object({
      id: Type.String(),
      ok: Type.Boolean(),
      blockNumber: Type.Number(),
      receipt: AnyJson,
      seenAt: Type.Optional(Type.Number()),
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
})

/**
 * An entry as packed JSON, its signed bytes in hexadecimal, without the ids that the row has. A final one is stored without signed bytes, and without calls where the chain has
 * them; an exchange's own rail has no chain to ask, and what a revert means depends on the call. What callers are not shown of it stands behind the rest: pages are read without.
 */
function writeBody({ key: _key, requestId: _requestId, idempotencyKey: _idempotencyKey, orders: _orders, ...whole }: Entry): StoredBytes {
  const { attempts, ...entry } = whole
  if (!isFinal(whole))
    return pack(
      JSON.stringify({ ...entry, attempts: attempts.map(({ raw, ...each }) => ({ ...each, raw: Buffer.from(raw).toString('hex') })) }),
    )
  const final = {
    ...entry,
    step: entry.signer === undefined && entry.state !== 'REVERTED' ? null : entry.step,
    bounds: undefined,
    attempts: attempts.map(({ raw: _raw, ...each }) => each),
  }
  // Of a receipt that does not tell its cost, callers are shown what the receipt tells.
  if (final.landed && !final.landed.cost) return pack(JSON.stringify(final))
  const { step, memo, about, landed, ...shown } = final
  const { receipt = null, ...block } = landed ?? {}
  const isAllShown = [step, memo, about, receipt].every((each) => each === null)
  return packInTwo(
    JSON.stringify({ ...shown, ...(landed && { landed: block }) }),
    isAllShown ? '' : JSON.stringify({ step, memo, about, receipt }),
  )
}

/** What an entry is read from. */
export type BodyRow = Pick<EntryRow, (typeof bodyColumns)[number]>
export const bodyColumns = ['key', 'request_id', 'idempotency_key', 'body'] as const

/** @throws Error that names the key, if the bytes are not what `writeBody` makes */
export const readBody = (row: BodyRow): Entry => entryOf(row, readStored(row.body))

/** What callers are shown of an entry: a final one has no step, memo, about and receipt. @throws Error that names the key, as `readBody` */
export const readShown = (row: BodyRow): Entry => entryOf(row, isInTwo(row.body) ? readFirst(row.body) : readStored(row.body))

function entryOf({ key, request_id: requestId, idempotency_key: idempotencyKey }: BodyRow, stored: unknown): Entry {
  if (!fits(Body, stored)) {
    const first = firstProblem(Body, stored)
    const where = stored === undefined ? 'its bytes are damaged' : `${first?.instancePath || 'it'} ${first?.message ?? 'is not an entry'}`
    throw new Error(`The journal's entry ${key} cannot be read: ${where}. Restore the store from a copy, or remove that row.`)
  }
  const { attempts, cost, landed } = stored
  if (landed && !landed.cost && cost) landed.cost = cost
  if (cost) delete stored.cost
  // Into what was parsed: a copy of an object with so many keys takes longer than its check.
  const entry: Omit<typeof stored, 'attempts' | 'cost'> = stored
  return Object.assign(entry, {
    key,
    requestId,
    ...(idempotencyKey !== null && { idempotencyKey }),
    attempts: attempts.map((each) => {
      const attempt: Omit<typeof each, 'raw'> = each
      return Object.assign(attempt, { raw: each.raw === undefined ? noBytes : new Uint8Array(Buffer.from(each.raw, 'hex')) })
    }),
  })
}
const noBytes = new Uint8Array()

/** What `writeBody` wrote; undefined where its bytes are damaged. */
export function readStored(body: StoredBytes): unknown {
  try {
    if (!isInTwo(body)) return JSON.parse(unpack(body))
    const { first, second } = unpackBoth(body)
    return second === '' ? withRest(JSON.parse(first)) : withRest(JSON.parse(first), JSON.parse(second))
  } catch {
    return undefined
  }
}

function readFirst(body: StoredBytes): unknown {
  try {
    return withRest(JSON.parse(unpackFirst(body)))
  } catch {
    return undefined
  }
}

function withRest(stored: unknown, rest: unknown = {}): unknown {
  if (!isObject(stored) || !isObject(rest)) return undefined
  const { step = null, memo = null, about = null, receipt = null } = rest
  Object.assign(stored, { step, memo, about })
  if (isObject(stored['landed'])) Object.assign(stored['landed'], { receipt })
  return stored
}
