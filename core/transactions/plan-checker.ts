// Checks a plan before anything is signed for it: from memory where that suffices, else by the chain.
import type { Checked, Json, Rail } from '../contracts/index.ts'
import type { Commitment } from './budgets.ts'
import { resync, type NonceQueue } from './nonce-queue.ts'
import { orTimeout, timedOutBeforeSigning, type ReplaceOptions, type RoutedRequest } from './submit-request.ts'

/** The result of a check, with the queue and the fees that it was made for. */
export interface CheckResult {
  checked: Checked
  queue: NonceQueue
  /** Fees of the transaction to replace. */
  over: Json | undefined
  /** What its precondition found that it takes. */
  commitment?: Commitment
  /** From memory: valid only while it agrees with the queue. */
  isCached?: true
}

export interface PlanChecker {
  /** Without asking the chain. Not for a nonce that the caller chose: only the chain can check it. */
  fromCache(request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue): CheckResult | undefined
  check(request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue, signal: AbortSignal): Promise<CheckResult>
  /** Whether what was checked still holds for the queue. */
  holds(result: CheckResult, request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue): boolean
}

export function createPlanChecker(rail: Rail): PlanChecker {
  return {
    fromCache(request, { replaces }, queue) {
      const checked = request.nonce === undefined && !replaces && !request.precondition ? request.checkFromCache?.() : undefined
      return checked && agrees(checked, queue) ? { checked, queue, over: undefined, isCached: true } : undefined
    },
    async check(request, options, queue, signal) {
      const { plan, signer, feeOverrides, precondition, privateOnly } = request
      const over = feesToReplace(request, options, queue)
      const update = queue.startSync()
      const { permit } = request
      const withPermit = permit && rail.permits && { withPermit: permit.withPermit }
      const price = { feeOverrides, over, ...withPermit, ...(privateOnly && { privateOnly }) }
      const checking = rail.check(plan.steps, plan.needs, signer, price, { signal })
      const holding = precondition?.(checking)
      // Of two errors the check's says more.
      holding?.catch(() => {})
      const checked = await orTimeout(checking, signal, timedOutBeforeSigning)
      const commitment = await orTimeout(Promise.resolve(holding), signal, timedOutBeforeSigning)
      update(checked.synced)
      await resync(rail, queue, signal)
      return { checked, queue, over, ...(commitment && { commitment }) }
    },
    holds: ({ checked, queue, over, isCached }, request, options, current) =>
      current === queue && feesToReplace(request, options, current) === over && (!isCached || agrees(checked, current)),
  }
}

function feesToReplace({ nonce }: RoutedRequest, { replaces }: ReplaceOptions, queue: NonceQueue): Json | undefined {
  return replaces && nonce !== undefined ? queue.pendingOn(nonce)?.fees : undefined
}

/** Whether a cached check agrees with the queue. If the native coin seems not to suffice, the chain must be asked. */
const agrees = ({ synced, checkFunds }: Checked, queue: NonceQueue) =>
  queue.agreesWith(synced) && !checkFunds(queue.committedRaw(synced, []))
