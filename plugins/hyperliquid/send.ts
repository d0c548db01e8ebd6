import { orderStates, type At, type BroadcastResult, type Sealed } from 'sluice/plugin'
import { errorTextOf, isOverLimit, meaningOf, quoted, saysFailure } from './answers.ts'
import type { AnsweredMoves } from './answered-moves.ts'
import type { ExchangeClock, Post, PostResult, RateLimiter } from './api.ts'
import type { NonceSet } from './nonces.ts'
import { anything, array, decimal, integer, is, literal, object, text, union, type Infer } from './shape.ts'

/** The order as the exchange has it, where the answer to the action was lost. */
const found = object({ found: object({ oid: integer, state: literal(...orderStates), filledAmount: decimal }) })

/** The exchange's status of one order or cancel of an action. */
const actionStatus = union(
  object({ resting: object({ oid: integer }) }),
  object({ filled: object({ oid: integer, totalSz: decimal, avgPx: decimal }) }),
  object({ error: text }),
  literal('success'),
  literal('waitingForFill'),
  literal('waitingForTrigger'),
  found,
)
export type ActionStatus = Infer<typeof actionStatus>

const receiptShape = object({ statuses: array(actionStatus) })
/** What the journal keeps of an action's outcome: one status for each of its orders or cancels, or one for all. */
export type Receipt = Infer<typeof receiptShape>

export const isReceipt = (value: unknown): value is Receipt => is(receiptShape, value)

export const errorOf = (status: ActionStatus): string | undefined =>
  typeof status === 'object' && 'error' in status ? status.error.trim() : undefined

/** Why the exchange refused all of an action. Undefined where it carried out any part. */
export function refusalOf({ statuses }: Receipt): string | undefined {
  const errors = statuses.flatMap((status) => errorOf(status) ?? [])
  return errors.length > 0 && errors.length === statuses.length ? [...new Set(errors)].join('; ') : undefined
}

const okAnswer = object({ status: literal('ok'), response: object({ type: text }, { data: anything }) })
const timedRequest = object({ nonce: integer }, { expiresAfter: integer })
const batchRequest = object({ action: object({}, { orders: array(anything), cancels: array(anything) }) })
/** An action has a weight of one, plus one for each 40 orders: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits */
const ordersPerWeight = 40

const overLimit = (said?: string): BroadcastResult => ({
  is: 'refused',
  reason: said ?? "Hyperliquid's rate limit for this IP address is used up.",
  meaning: 'not-now',
})

const tooLate: BroadcastResult = { is: 'refused', reason: 'The action has expired.', meaning: 'invalid' }

/**
 * Sends the bytes of an action. The exchange's answer is its outcome. An expired action is not sent, since the exchange counts it five times
 * against the rate limit.
 */
export function createSend({
  post,
  limiter,
  clock,
  used,
  unsent,
  moves,
}: {
  post: Post
  limiter: RateLimiter
  clock: ExchangeClock
  used: NonceSet
  unsent: NonceSet
  moves: Pick<AnsweredMoves, 'answered'>
}) {
  return async ({ raw }: Sealed, { signal }: At): Promise<BroadcastResult> => {
    const request: unknown = JSON.parse(new TextDecoder().decode(raw))
    const { nonce = -1, expiresAfter = Infinity } = is(timedRequest, request) ? request : {}
    const parts = is(batchRequest, request) ? (request.action.orders ?? request.action.cancels)?.length : undefined
    if (clock.nowMs() > expiresAfter) return tooLate
    try {
      limiter.take(1 + Math.floor((parts ?? 0) / ordersPerWeight), 'action')
    } catch {
      return overLimit()
    }
    const isFirst = unsent.delete(nonce)
    const posted = await post('exchange', raw, signal).catch((): PostResult => ({ is: 'lost', reason: 'the request was cancelled' }))
    if (posted.is === 'lost') return { is: 'unclear', reason: `Hyperliquid did not answer: ${posted.reason}.` }
    if (posted.status === 429) limiter.markExhausted()
    const result = resultOf(posted.body, parts, isFirst, posted.status)
    // "Duplicate" only: of a nonce that is outside of the window it is not known whether an action has used it.
    if (result.is === 'refused' && meaningOf(errorTextOf(posted.body) ?? '') === 'nonce-used') used.add(nonce)
    if (result.is === 'accepted' && result.landed?.ok) moves.answered(nonce)
    return result
  }
}

/**
 * The result of sending an action.
 * @param parts the number of orders or cancels in the action, which the exchange gives a status each; undefined for other actions
 * @param isFirst whether the exchange cannot have received the bytes before
 * @param status of HTTP
 */
export function resultOf(body: unknown, parts: number | undefined, isFirst: boolean, status = 200): BroadcastResult {
  if (isOverLimit({ status, body })) return overLimit(quoted(body))
  const said = errorTextOf(body)
  if (said !== undefined) return ofRefusal(said, isFirst, status)
  if (status !== 200) return { is: 'unclear', reason: `Hyperliquid failed (HTTP ${status}).` }
  if (!is(okAnswer, body)) return { is: 'unclear', reason: "Hyperliquid's answer has an unknown format." }
  const receipt = receiptOf(body.response.data, parts)
  if (!receipt) return { is: 'unclear', reason: "Hyperliquid's answer lacks the status of each part of the action." }
  const failed = receipt.statuses.map(errorOf).find((error) => error !== undefined && saysFailure(error))
  if (failed !== undefined) return { is: 'unclear', reason: `Hyperliquid failed: ${quoted(failed) ?? 'it gave no reason'}` }
  const reason = refusalOf(receipt)
  return { is: 'accepted', landed: { ok: reason === undefined, receipt, ...(reason !== undefined && { reason }) } }
}

/** Undefined where the number of statuses is not that of the parts. Some refusals are one status for all parts. */
function receiptOf(data: unknown, parts: number | undefined): Receipt | undefined {
  if (data === undefined && parts === undefined) return { statuses: ['success'] }
  if (!isReceipt(data)) return undefined
  const { statuses } = data
  const isCommon = statuses.length === 1 && refusalOf({ statuses }) !== undefined
  return isCommon || parts === undefined || statuses.length === parts ? { statuses } : undefined
}

/** What is not known to be a refusal is trouble: the action may have been carried out, and the exchange is asked for its trace. */
function ofRefusal(said: string, isFirst: boolean, status: number): BroadcastResult {
  const reason = quoted(said) ?? `Hyperliquid answered with a page (HTTP ${status}).`
  const means = meaningOf(said)
  if (means === 'trouble') return { is: 'unclear', reason }
  if (means === 'nonce-used' || means === 'nonce-outside') return { is: 'refused', reason, meaning: 'sequence-used' }
  // The refusal says nothing of an earlier broadcast whose answer was lost and which may have been carried out. Its trace does.
  if (means === 'expired' || !isFirst) return { is: 'refused', reason, meaning: 'invalid' }
  return { is: 'accepted', landed: { ok: false, receipt: { statuses: [{ error: reason }] }, reason } }
}
