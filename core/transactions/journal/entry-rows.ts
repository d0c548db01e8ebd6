import type { ExpressionBuilder } from 'kysely'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { transactionStates } from '../../api/service.ts'
import type { EntryRow, EventRow, HashRow, Tables } from '../../store/tables.ts'
import { canonicalHash, isFinal, kinds, txHashOf, type Attempt, type Entry } from '../entry.ts'

/** @param queue `Lease.queue` */
export function entryRow(entry: Entry, queue: string): EntryRow {
  const { key, version, chain, network, address, connector, signer, state, nonce, client, requestId, idempotencyKey, createdAt } = entry
  return {
    key,
    version,
    lane: queue,
    chain,
    network,
    address: address.toLowerCase(),
    via: signer === undefined ? null : (connector ?? null),
    signer: signer === undefined ? null : signer.toLowerCase(),
    state,
    final: isFinal(entry) ? 1 : 0,
    nonce,
    client,
    request_id: requestId,
    idempotency_key: idempotencyKey ?? null,
    created_at: createdAt,
    shown: shownOf(entry),
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
    attempts.map(({ id }) => ({ hash: canonicalHash(id), chain, network, entry_key: key })),
  )
}

export function eventRow(entry: Entry): Omit<EventRow, 'id' | 'body'> & { body: string } {
  const { key, chain, network, address, updatedAt } = entry
  return { entry_key: key, chain, network, address: address.toLowerCase(), at: updatedAt, body: writeEventBody(entry) }
}

/** A rail: the chain's where no connector is named. With an address, one queue on it. */
export interface OnRail {
  readonly connector?: string
  readonly address?: string
}

/** SQL: whether an entry is on the rail. */
export function isOnRail({ connector, address }: OnRail) {
  return (eb: ExpressionBuilder<Tables, 'entries'>) =>
    connector === undefined
      ? eb.and([eb('via', 'is', null), ...(address === undefined ? [] : [eb('address', '=', address.toLowerCase())])])
      : eb.and([eb('via', '=', connector), ...(address === undefined ? [] : [eb('signer', '=', address.toLowerCase())])])
}

/** Any JSON value. */
const Json = Type.Any()

/** An entry as it is stored. Its keys never change, so some differ from the names in `Entry`. */
const Body = Compile(
  Type.Object({
    key: Type.String(),
    version: Type.Integer(),
    chain: Type.String(),
    network: Type.String(),
    address: Type.String(),
    kind: Type.Union(kinds.map((each) => Type.Literal(each))),
    connector: Type.Optional(Type.String()),
    signer: Type.Optional(Type.String()),
    client: Type.String(),
    requestId: Type.String(),
    idempotencyKey: Type.Optional(Type.String()),
    createdAt: Type.Number(),
    updatedAt: Type.Number(),
    part: Type.Object({ index: Type.Integer(), of: Type.Integer() }),
    step: Json,
    memo: Json,
    about: Json,
    deadline: Type.Optional(Type.Number()),
    slot: Json,
    nonce: Type.Number(),
    slotGiven: Type.Boolean(),
    feesGiven: Type.Boolean(),
    rank: Type.Number(),
    state: Type.Union(transactionStates.map((each) => Type.Literal(each))),
    attempts: Type.Array(
      Type.Object({
        id: Type.String(),
        raw: Type.String({ pattern: '^([0-9a-f]{2})*$' }),
        fees: Json,
        signedAt: Type.Number(),
        sentAt: Type.Optional(Type.Number()),
        sends: Type.Number(),
        sendsSinceLost: Type.Optional(Type.Number()),
        refused: Type.Optional(
          Type.Union(
            (['slot-used', 'slot-ahead', 'underpriced', 'outbid', 'unfunded', 'not-now', 'invalid'] as const).map((each) =>
              Type.Literal(each),
            ),
          ),
        ),
      }),
    ),
    seen: Type.Optional(Type.Union((['pays', 'underpriced', 'lost'] as const).map((each) => Type.Literal(each)))),
    landed: Type.Optional(Type.Object({ id: Type.String(), ok: Type.Boolean(), blockNumber: Type.Number(), receipt: Json })),
    replacedBy: Type.Optional(Type.String()),
    deadLooks: Type.Number(),
    reason: Type.Optional(Type.String()),
  }),
)

/** An entry as JSON, its signed bytes in hexadecimal. */
export function writeBody({ sequence, sequenceGiven, attempts, ...entry }: Entry): string {
  return JSON.stringify({
    ...entry,
    slot: sequence,
    slotGiven: sequenceGiven,
    attempts: attempts.map((each) => ({ ...each, raw: Buffer.from(each.raw).toString('hex') })),
  })
}

/** As `writeBody`, without what is large and of no use in an event: calls, signed bytes, receipts. */
function writeEventBody(entry: Entry): string {
  const attempts = entry.attempts.map((each): Attempt => ({ ...each, raw: new Uint8Array() }))
  const landed = entry.landed && { ...entry.landed, receipt: null }
  return writeBody({ ...entry, step: null, memo: null, about: null, attempts, ...(landed && { landed }) })
}

/** @throws Error that names the key, if the text is not what `writeBody` makes */
export function readBody(key: string, body: string): Entry {
  const stored = parse(body)
  if (!Body.Check(stored)) {
    const [first] = Body.Errors(stored)
    const where = first ? `${first.instancePath || 'it'} ${first.message}` : 'it is not JSON'
    throw new Error(`The journal's entry ${key} cannot be read: ${where}. Restore the store from a copy, or remove that row.`)
  }
  const { slot: sequence, slotGiven: sequenceGiven, attempts, ...entry } = stored
  return {
    ...entry,
    sequence,
    sequenceGiven,
    attempts: attempts.map((each) => ({ ...each, raw: new Uint8Array(Buffer.from(each.raw, 'hex')) })),
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
