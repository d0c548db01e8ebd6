import { type At, type Reception, type RefusalMeaning, type Sealed, orderStates } from 'sluice/plugin'
import type { RateLimiter, ExchangeClock, Post, PostResult } from './api.ts'
import type { UnsentNonces, UsedNonces } from './nonces.ts'
import { anything, is, array, object, text, integer, literal, decimal, union, type Infer } from './shape.ts'

const done = object({ status: literal('ok'), response: object({ type: text }, { data: anything }) })
const refused = object({ status: literal('err'), response: text })
const timed = object({ nonce: integer }, { expiresAfter: integer })
const batch = object({ action: object({}, { orders: array(anything), cancels: array(anything) }) })
/** An action weighs one, and one more for so many orders: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const ordersPerWeight = 40

/**
 * Refusals after which the same bytes may yet be carried out, or were already; any other is of an action that came to nothing. The
 * exchange gives words only.
 */
const open: readonly (readonly [RegExp, RefusalMeaning])[] = [
  // "Invalid nonce: duplicate nonce 1741107452532": used by these very bytes, it may be. https://github.com/nomeida/hyperliquid/issues/61
  [/\bnonce\b/i, 'slot-used'],
  [/\bexpire(d|s|sAfter)\b/i, 'invalid'],
  [/\b(rate limit|too many (cumulative )?requests)/i, 'not-now'],
  // Trouble of its own: nobody knows how far it came.
  [/\b(internal|time(d )?out|unavailable|try again)\b/i, 'not-now'],
]

const overLimit: Reception = {
  is: 'refused',
  reason: 'Hyperliquid takes no more requests from this IP address for now.',
  meaning: 'not-now',
}

const tooLate: Reception = { is: 'refused', reason: 'Its time is over.', meaning: 'invalid' }

interface SendParts {
  post: Post
  budget: RateLimiter
  clock: ExchangeClock
  used: UsedNonces
  unsent: UnsentNonces
}

/** Sends the bytes; the exchange says at once what came of them. What would come too late is not sent: it counts five times there. */
export function createSend({ post, budget, clock, used, unsent }: SendParts) {
  return async ({ raw }: Sealed, { signal }: At): Promise<Reception> => {
    const { nonce, expiresAfter = Infinity } = timesOf(raw)
    if (clock.nowMs() > expiresAfter) return tooLate
    try {
      budget.take(1 + Math.floor((partsOf(raw) ?? 0) / ordersPerWeight), 'action')
    } catch {
      return overLimit
    }
    const isFirst = unsent.take(nonce)
    const posted = await post('exchange', raw, signal).catch((): PostResult => ({ is: 'lost', reason: 'it was not waited for any longer' }))
    if (posted.is === 'lost') return { is: 'unclear', reason: `Hyperliquid did not answer: ${posted.reason}.` }
    const { status, body } = posted
    if (status === 429) {
      budget.markExhausted()
      return overLimit
    }
    if (status >= 400 && status < 500)
      return { is: 'refused', reason: quoted(body) ?? `Hyperliquid refused it (HTTP ${status}).`, meaning: 'invalid' }
    if (status !== 200) return { is: 'unclear', reason: `Hyperliquid failed (HTTP ${status}).` }
    const reception = receptionOf(body, partsOf(raw), isFirst)
    if (reception.is === 'refused' && reception.meaning === 'slot-used') used.note(nonce)
    return reception
  }
}

/**
 * @param parts how many orders or cancels the action has, where it has such: of each the exchange says what came of it
 * @param isFirst whether the bytes cannot have come to the exchange before
 */
export function receptionOf(body: unknown, parts: number | undefined, isFirst: boolean): Reception {
  if (is(refused, body)) return ofRefusal(body.response, isFirst)
  if (!is(done, body)) return { is: 'unclear', reason: 'Hyperliquid answered with something that is no answer.' }
  const receipt = receiptOf(body.response.data, parts)
  if (!receipt) return { is: 'unclear', reason: 'Hyperliquid did not say what came of each part of an action.' }
  const reason = refusalOf(receipt)
  return { is: 'accepted', landed: { ok: reason === undefined, receipt, ...(reason !== undefined && { reason }) } }
}

/** Undefined where it says of none, of more or of fewer. Some refusals are said once for all. */
function receiptOf(data: unknown, parts: number | undefined): Receipt | undefined {
  if (data === undefined && parts === undefined) return { statuses: ['success'] }
  if (!isReceipt(data)) return undefined
  const { statuses } = data
  const isCommon = statuses.length === 1 && refusalOf({ statuses }) !== undefined
  return isCommon || parts === undefined || statuses.length === parts ? { statuses } : undefined
}

function ofRefusal(words: string, isFirst: boolean): Reception {
  const reason = quoted(words) ?? 'it gave no reason'
  const meaning = open.find(([pattern]) => pattern.test(words))?.[1]
  if (meaning) return { is: 'refused', reason, meaning }
  // It says nothing of an earlier sending, that may have been carried out and nobody heard it: what that left behind tells.
  if (!isFirst) return { is: 'refused', reason, meaning: 'invalid' }
  return { is: 'accepted', landed: { ok: false, receipt: { statuses: [{ error: reason }] }, reason } }
}

const mostWords = 300

/** The exchange's own words, on one line. */
function quoted(body: unknown): string | undefined {
  if (typeof body !== 'string') return undefined
  const line = body.replaceAll(/\s+/g, ' ').trim().slice(0, mostWords)
  return line === '' ? undefined : line
}

const parsed = (raw: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(raw))

function timesOf(raw: Uint8Array): { readonly nonce?: number; readonly expiresAfter?: number } {
  const request = parsed(raw)
  return is(timed, request) ? request : {}
}

function partsOf(raw: Uint8Array): number | undefined {
  const request = parsed(raw)
  return is(batch, request) ? (request.action.orders ?? request.action.cancels)?.length : undefined
}

/** Where an answer was lost: the order as the exchange has it. */
const found = object({ found: object({ oid: integer, state: literal(...orderStates), filledAmount: decimal }) })

/** What the exchange says of one order or cancel of an action. */
const said = union(
  object({ resting: object({ oid: integer }) }),
  object({ filled: object({ oid: integer, totalSz: decimal, avgPx: decimal }) }),
  object({ error: text }),
  literal('success'),
  literal('waitingForFill'),
  literal('waitingForTrigger'),
  found,
)
export type ActionStatus = Infer<typeof said>

const receiptShape = object({ statuses: array(said) })
/** What is kept of what came of an action: one status for each of its orders or cancels, or one for all. */
export type Receipt = Infer<typeof receiptShape>

export const isReceipt = (value: unknown): value is Receipt => is(receiptShape, value)

export const errorOf = (status: ActionStatus): string | undefined =>
  typeof status === 'object' && 'error' in status ? status.error.trim() : undefined

/** Why nothing of an action came about; undefined where any of it did. */
export function refusalOf({ statuses }: Receipt): string | undefined {
  const errors = statuses.flatMap((status) => errorOf(status) ?? [])
  return errors.length > 0 && errors.length === statuses.length ? [...new Set(errors)].join('; ') : undefined
}
