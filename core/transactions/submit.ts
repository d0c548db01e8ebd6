// A request on its way to the chain.
import type { Broadcast } from './attempts.ts'
import type { Entry } from './entry.ts'
import type { LeasedQueue } from './leases.ts'
import { nonceConflictError, type NonceQueue } from './nonce-queue.ts'
import type { ReserveOrderIds } from './order-reservations.ts'
import { createPlanChecker } from './plan-checker.ts'
import { createRequestSigner, type RequestSignerParts } from './request-signer.ts'
import {
  broadcastTimedOut,
  checkPlan,
  orTimeout,
  persistTimedOut,
  type ImmediateResult,
  type ReplaceOptions,
  type RoutedRequest,
  type SubmitResult,
} from './submit-request.ts'

export type Submit = (request: RoutedRequest, options: ReplaceOptions, signal: AbortSignal) => Promise<SubmitResult>

export interface SubmitParts extends RequestSignerParts {
  broadcast: Broadcast
  /** Ids of attempts that wait for the steps of their plan before them. */
  unsent: Set<string>
  reserveOrderIds: ReserveOrderIds
  /** Finishes work even if its request has ended. */
  inBackground: <T>(work: Promise<T>) => Promise<T>
}

/**
 * plan → check → queue → nonces → journal → signer → journal → nodes. Nothing is signed before it is journaled, and nothing is sent before
 * its bytes are known to be stored. Until then an error means that nothing was sent and nothing will be. From then on the answer is the
 * hash, whatever the nodes answer, because the bytes may still be mined.
 */
export function createSubmit(parts: SubmitParts): Submit {
  const { target, queues, recorder, broadcast, unsent, reserveOrderIds, wake, inBackground } = parts
  const checker = createPlanChecker(target.impl.rail)
  const signer = createRequestSigner(parts)

  return async function submit(request, options, signal) {
    checkPlan(request)
    const { requestId } = request
    // We take the queue first, so that the chain's answer updates our queue. Other requests may use the queue while we wait.
    const { queue } = await queues.use(request.signer, signal, async (leased) => leased)
    const asksForNonce = request.kind !== 'fill' && !options.replaces && request.approval?.is !== 'preview'
    const ahead = asksForNonce && request.nonce !== undefined ? queue.isAhead(request.nonce) : undefined
    if (ahead) throw await nonceConflictError(ahead, { recorder, target, address: queue.address })
    const releaseIds = await reserveOrderIds(request)
    const signed = await checkAndSign(request, options, queue, signal).finally(releaseIds)
    const { result, persisted, leased } = signed
    const entries =
      persisted.is === 'persisted'
        ? persisted.entries
        : await orTimeout(inBackground(signer.finishUnknown(signed, persisted)), signal, () => persistTimedOut(requestId))
    // An exchange that answers at once leaves nothing to watch, and its rate limits are tight.
    if (target.connector === undefined) wake()
    const landed = await orTimeout(inBackground(broadcastInOrder(entries, leased)), signal, () =>
      broadcastTimedOut(result.txHash, requestId),
    )
    return landed && !request.keyed ? { ...result, landed } : result
  }

  async function checkAndSign(request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue, signal: AbortSignal) {
    const first = checker.fromCache(request, options, queue) ?? (await checker.check(request, options, queue, signal))
    return queues.use(request.signer, signal, async (leased) => {
      const holds = checker.holds(first, request, options, leased.queue)
      return signer.sign(request, options, leased, holds ? first : await checker.check(request, options, leased.queue, signal), signal)
    })
  }

  /**
   * In sequence, because some nodes refuse a nonce until they have the one below. On an exchange's own rail no further than what is known to be done: the
   * watcher goes on. Returns the last result, if the exchange gave it at once.
   */
  async function broadcastInOrder(entries: readonly Entry[], { lease }: LeasedQueue): Promise<ImmediateResult | undefined> {
    let result: ImmediateResult | undefined
    let isUnknown = false
    const steps = entries.flatMap((entry) => entry.attempts.slice(-1).map((attempt) => ({ entry, attempt })))
    for (const { attempt } of steps) unsent.add(attempt.id)
    for (const [index, { entry, attempt }] of steps.entries()) {
      unsent.delete(attempt.id)
      result = await broadcast(entry, attempt, lease)
      isUnknown ||= result === undefined || (!result.ok && index < steps.length - 1)
      if (target.connector !== undefined && result?.ok !== true) break
    }
    for (const { attempt } of steps) unsent.delete(attempt.id)
    if (target.connector !== undefined && isUnknown) wake()
    return result
  }
}
