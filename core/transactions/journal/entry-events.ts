// The events of an entry in the rows of the store: what each has of its own. The rest is in the entry.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { fits } from '../../base/schema-check.ts'
import { addressKey } from '../../base/addresses.ts'
import { walletNumber } from '../../store/compact.ts'
import type { EventRow } from '../../store/tables.ts'
import { isFinal, type Entry, type TransactionState } from '../entry.ts'
import { StoredSeen, StoredState } from './entry-rows.ts'

/**
 * What an event has of its own; the rest is in its entry, which only grows: version, milliseconds since the entry was made, state, how often
 * each attempt was sent, what the mempool said, the block (attempt, 1 for success, number), what replaces it, and why. Nulls at its end are left
 * out.
 */
const ChangeSchema = Type.Tuple([
  Type.Integer(),
  Type.Number(),
  StoredState,
  Type.Array(Type.Number()),
  Type.Union([StoredSeen, Type.Null()]),
  Type.Union([Type.Tuple([Type.Union([Type.Integer({ minimum: 0 }), Type.String()]), Type.Integer(), Type.Number()]), Type.Null()]),
  Type.Union([Type.String(), Type.Null()]),
  Type.Union([Type.String(), Type.Null()]),
])
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
    return fits(ChangeSchema, change) ? change : undefined
  } catch {
    return undefined
  }
}
