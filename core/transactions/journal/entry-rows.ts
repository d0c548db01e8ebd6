import type { ExpressionBuilder } from 'kysely'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { transactionStates } from '../../api/service.ts'
import type { EntryRow, EventRow, HashRow, Tables } from '../../store/tables.ts'
import { kinds, type Attempt, type Entry, canonicalHash, isFinal, txHashOf } from '../entry.ts'

/** Anything that JSON has. */
const Json = Type.Any()

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

/** An entry as JSON, its signed bytes as hex. */
function writeBody(entry: Entry): string {
  return JSON.stringify({ ...entry, attempts: entry.attempts.map((each) => ({ ...each, raw: Buffer.from(each.raw).toString('hex') })) })
}

/** As `writeBody`, without what is large and of no use for whoever hears of a change: calls, signed bytes, receipts. */
function writeEventBody(entry: Entry): string {
  const attempts = entry.attempts.map((each): Attempt => ({ ...each, raw: new Uint8Array() }))
  const landed = entry.landed && { ...entry.landed, receipt: null }
  return writeBody({ ...entry, step: null, memo: null, about: null, attempts, ...(landed && { landed }) })
}

/** @throws Error naming the key, where it is not what `writeBody` makes */
export function readBody(key: string, body: string): Entry {
  const found = parsed(body)
  if (!Body.Check(found)) {
    const [first] = Body.Errors(found)
    const where = first ? `${first.instancePath || 'it'} ${first.message}` : 'it is no JSON'
    throw new Error(`The journal's entry ${key} cannot be read: ${where}. Restore the store from a copy, or remove that row.`)
  }
  return { ...found, attempts: found.attempts.map((each) => ({ ...each, raw: new Uint8Array(Buffer.from(each.raw, 'hex')) })) }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

export function entryRow(entry: Entry, lane: string): EntryRow {
  const { key, version, chain, network, address, connector, signer, state, nonce, client, requestId, idempotencyKey, createdAt } = entry
  return {
    key,
    version,
    lane,
    chain,
    network,
    address: folded(address),
    via: signer === undefined ? null : (connector ?? null),
    signer: signer === undefined ? null : folded(signer),
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

/** What callers are told of it: sending the same bytes again changes nothing here. */
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
  return { entry_key: key, chain, network, address: folded(address), at: updatedAt, body: writeEventBody(entry) }
}

/** Of one rail, the chain's where no connector is named; and of one address on it. */
export interface OnRail {
  readonly connector?: string
  readonly address?: string
}

/** Which entries are on it. */
export function isOnRail({ connector, address }: OnRail) {
  return (eb: ExpressionBuilder<Tables, 'entries'>) =>
    connector === undefined
      ? eb.and([eb('via', 'is', null), ...(address === undefined ? [] : [eb('address', '=', folded(address))])])
      : eb.and([eb('via', '=', connector), ...(address === undefined ? [] : [eb('signer', '=', folded(address))])])
}

/** Addresses and hashes are looked for in lower case, also those of chains that have both: none differ by that alone. */
export const folded = (text: string): string => text.toLowerCase()
