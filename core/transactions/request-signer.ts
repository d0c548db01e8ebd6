// Takes a checked request from its nonces to signed bytes in the journal.
import { SluiceError, type Checked, type Json, type Log, type Prepared, type Rail } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { persistSigned, type PersistResult, type SignAttempt } from './attempts.ts'
import type { Spending } from './budgets.ts'
import { hasOutstanding, isFinal, txHashOf, type Entry } from './entry.ts'
import type { Change, RecordedAnswer, Recorder } from './journal/journal.ts'
import { expireUnsigned, restoreSigned, type LeasedQueue, type LeasedQueues } from './leases.ts'
import { nonceConflictError, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import { permitOf } from './permits.ts'
import type { CheckResult } from './plan-checker.ts'
import {
  checkGas,
  checkRelays,
  gasOf,
  newEntries,
  orTimeout,
  setsFees,
  timedOutBeforeSigning,
  type ReplaceOptions,
  type RoutedRequest,
  type SignPermit,
  type SubmitResult,
  type TransactionTarget,
} from './submit-request.ts'

export interface RequestSignerParts {
  target: TransactionTarget
  queues: LeasedQueues
  recorder: Recorder
  signAttempt: SignAttempt
  signPermit: SignPermit
  /** Keys of entries that a request is signing now. Only that request expires them. */
  signing: Set<string>
  /** Wakes the watcher: there is something new to watch. */
  wake: () => void
  /** Closes a nonce gap that later transactions wait behind. */
  fill: (address: string, nonce: number) => void
  closing: AbortSignal
  log: Log
  nowMs: () => number
}

/** A request with its nonces, signed. */
export interface SignedRequest {
  leased: LeasedQueue
  sequences: readonly Json[]
  queued: readonly Entry[]
  persisted: PersistResult
  result: SubmitResult
}

export interface RequestSigner {
  /** Claims nonces and persists signed bytes. @throws an error that means that nothing was stored and nothing will be */
  sign(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    result: CheckResult,
    signal: AbortSignal,
  ): Promise<SignedRequest>
  /** After a write with an unknown commit. Its nonces stay claimed until the outcome is known. */
  finishUnknown(signed: SignedRequest, persisted: PersistResult & { is: 'unknown' }): Promise<readonly Entry[]>
}

export function createRequestSigner(parts: RequestSignerParts): RequestSigner {
  const { target, queues, recorder, signing, wake, fill, closing, log, nowMs } = parts
  const { rail } = target.impl

  async function sign(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    { checked, commitment = request.commitment }: CheckResult,
    signal: AbortSignal,
  ): Promise<SignedRequest> {
    const { queue, lease, permits } = leased
    const { prepared } = checked
    checkGas(request, checked)
    const { sequences, chosenByCaller, pending } = await claim(request, options, queue, checked)
    // A gap is filled privately where something private waits behind it: a public fill would tell that it comes.
    const isHidden = request.privateOnly === true || (request.kind === 'fill' && queue.hasPrivate())
    const privateOnly = pending.map((each) => isHidden || each?.privateOnly === true)
    const permitSigning = { began: false }
    let queued: readonly Entry[] = []
    try {
      if (privateOnly.includes(true)) checkRelays(target)
      const conflict = permits.conflict(request.plan.needs, checked, rail)
      if (conflict) throw conflict
      queued = newEntries(request, {
        sequences,
        chosenByCaller,
        nonces: sequences.map((sequence) => rail.nonceOf(sequence)),
        ranks: pending.map((each) => (each ? each.rank + 1 : 0)),
        privateOnly,
        permits: checked.permits,
        nowMs: nowMs(),
      })
      // In the same turn of the event loop: of two requests that want the same right one is refused.
      for (const entry of queued) permits.set(entry)
      for (const { key } of queued) signing.add(key)
      const spending = spendingOf({ ...request, ...(commitment && { commitment }) }, queued, { prepared, pending, rail })
      await recorder.open(queued, lease, request.keyed?.claim, request.clientOrders, spending)
      const signed = await orTimeout(
        Promise.all(queued.map((entry, index) => signOne(entry, prepared[index], request, permitSigning, parts))),
        signal,
        timedOutBeforeSigning,
      )
      const result = submitResultOf(signed, prepared)
      const persisted = await persistSigned(
        recorder,
        {
          changes: async () => ({
            own: queued.map((before, index) => ({ before, after: signed[index] ?? before })),
            beside: await replacedBy(signed, pending, options, recorder),
          }),
          instead: expireUnsigned('The store did not record the signed bytes: nothing was sent.'),
          lease,
          answer: answerTo(request, result),
          onRecorded: request.keyed?.onRecorded,
          requestId: request.requestId,
        },
        closing,
        log,
      )
      if (persisted.is === 'persisted') addToQueue(persisted.entries, leased)
      return { leased, sequences, queued, persisted, result }
    } catch (error) {
      releaseAndFill(queue, sequences)
      await expire(queued, leased, error, !permitSigning.began)
      throw error
    }
  }

  async function claim(request: RoutedRequest, { replaces = false, only }: ReplaceOptions, queue: NonceQueue, checked: Checked) {
    const { requestId, nonce, kind, feeOverrides, caller, paidBy = caller.id } = request
    const { prepared, synced, checkFunds } = checked
    const claimed = queue.claim({
      requestId,
      client: paidBy,
      nonce,
      count: prepared.length,
      chosenByCaller: nonce !== undefined && kind !== 'fill',
      fees: prepared.map(({ fees }) => fees),
      costsRaw: prepared.map(({ step, fees }) => rail.cost(step, fees)),
      mayReplace: replaces || setsFees(feeOverrides),
      only,
    })
    if ('conflict' in claimed) throw await nonceConflictError(claimed.conflict, { recorder, target, address: queue.address })
    // In the same turn of the event loop as the claim: of two requests that the funds cover one at a time, one is refused. Cancels and fills never are.
    const shortage = kind === 'cancel' || kind === 'fill' ? undefined : checkFunds(queue.committedRaw(synced, claimed.sequences))
    if (!shortage) return claimed
    releaseAndFill(queue, claimed.sequences)
    throw shortage
  }

  function addToQueue(entries: readonly Entry[], { queue, permits }: LeasedQueue): void {
    for (const entry of entries) {
      permits.set(entry)
      restoreSigned(entry, queue, rail)
      signing.delete(entry.key)
    }
  }

  function releaseAndFill(queue: NonceQueue, sequences: readonly Json[]): void {
    const gaps = queue.release(sequences)
    // If another server has owned the queue since then, its owner fills the gaps.
    if (queues.held(queue.address)?.queue === queue) for (const gap of gaps) fill(queue.address, rail.nonceOf(gap))
  }

  /**
   * For entries that were never signed, or whose signed bytes were discarded. If the write fails, `expireLeftovers` does it later.
   * @param isWithoutRights whether it is certain that none of their permits was signed
   */
  async function expire(
    queued: readonly Entry[],
    { lease, permits }: LeasedQueue,
    error: unknown,
    isWithoutRights: boolean,
  ): Promise<void> {
    if (queued.length === 0) return
    const expired = expireUnsigned(error instanceof SluiceError ? error.message : 'The transaction could not be signed.')
    const after = queued.map((before) => (isWithoutRights ? withoutPermits(expired(before)) : expired(before)))
    for (const entry of after) permits.set(entry)
    if (after.some(hasOutstanding)) wake()
    try {
      if (!(error instanceof StoreUnavailable))
        await recorder.write(
          queued.map((before, index) => ({ before, after: after[index] ?? before })),
          lease,
        )
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : 'unknown'
      log.info({ requestId: queued[0]?.requestId, reason }, 'expiry of an unsigned request not persisted yet')
    } finally {
      for (const { key } of queued) signing.delete(key)
    }
  }

  async function finishUnknown(
    { leased, sequences, queued }: SignedRequest,
    { outcome, cause }: PersistResult & { is: 'unknown' },
  ): Promise<readonly Entry[]> {
    const entries = await outcome
    if (entries) addToQueue(entries, leased)
    else releaseAndFill(leased.queue, sequences)
    for (const { key } of queued) signing.delete(key)
    if (!entries) throw cause
    wake()
    return entries
  }

  return { sign, finishUnknown }
}

const withoutPermits = ({ permits: _permits, ...entry }: Entry): Entry => entry

async function signOne(
  entry: Entry,
  prepared: Prepared | undefined,
  request: RoutedRequest,
  permitSigning: { began: boolean },
  parts: RequestSignerParts,
): Promise<Entry> {
  if (!prepared) throw new Error('A step was not priced.')
  const signable = { ...entry, step: await stepWithPermits(entry, request, permitSigning, parts) }
  return { ...signable, state: 'SIGNED', attempts: [await parts.signAttempt(signable, prepared.fees)] }
}

/** The step with the permits of the entry, which is in the journal with them. Nothing but the signed transaction gets their signatures. */
async function stepWithPermits(
  { step: plain, permits = [], chain, network, address }: Entry,
  { permit: takes }: RoutedRequest,
  permitSigning: { began: boolean },
  { target, signPermit }: RequestSignerParts,
): Promise<Json> {
  const { rail } = target.impl
  let step = plain
  for (const each of permits) {
    if (!takes?.withPermit || !rail.permits) throw new Error('The step takes no permit.')
    const permit = permitOf(each)
    permitSigning.began = true
    const signature = await signPermit({ chain, network, address, permit }).catch((error: unknown) => {
      // Of other errors it is not certain whether a signature was made.
      if (error instanceof SluiceError && (error.name === 'FORBIDDEN' || error.name === 'STOPPED')) permitSigning.began = false
      throw error
    })
    step = takes.withPermit(step, permit, rail.permits.seal(permit, signature, address))
  }
  return step
}

function spendingOf(
  { caller, commitment, touches, approval, network }: RoutedRequest,
  queued: readonly Entry[],
  { prepared, pending, rail }: { prepared: readonly Prepared[]; pending: readonly (PendingTransaction | undefined)[]; rail: Rail },
): Spending {
  const steps = queued.map((entry, index) => {
    const priced = prepared[index]
    if (!priced) throw new Error('A step was not priced.')
    const replaces = pending[index]?.key
    const { valueRaw } = rail.outline(priced.step)
    return { entry, maxCostRaw: rail.cost(priced.step, priced.fees), valueRaw, ...(replaces !== undefined && { replaces }) }
  })
  return {
    client: caller.id,
    is: 'new',
    coin: network.impl.nativeCurrency,
    steps,
    ...(commitment && { commitment }),
    ...(touches && { touches }),
    ...(approval && { approval }),
  }
}

/** Marks the entries that the signed ones replace. */
async function replacedBy(
  signed: readonly Entry[],
  pending: readonly (PendingTransaction | undefined)[],
  { reason }: ReplaceOptions,
  recorder: Recorder,
): Promise<readonly Change[]> {
  const changes = await Promise.all(
    signed.map(async (entry, index) => {
      const key = pending[index]?.key
      const before = key === undefined ? undefined : await recorder.read(key)
      if (!before || before.landed || isFinal(before)) return []
      return [{ before, after: { ...before, replacedBy: hashOf(entry), ...(reason !== undefined && { reason }) } }]
    }),
  )
  return changes.flat()
}

/** The answer to record. It is made before anything is stored, so that an error in making it means that nothing was sent. */
function answerTo({ answer, keyed }: RoutedRequest, result: SubmitResult): RecordedAnswer | undefined {
  const body = answer(result)
  return keyed && { claim: keyed.claim, ...keyed.answerOf(body) }
}

function submitResultOf(signed: readonly Entry[], prepared: readonly Prepared[]): SubmitResult {
  const transactions = signed.map((entry) => ({ txHash: hashOf(entry), nonce: entry.nonce }))
  const last = transactions.at(-1)
  if (!last) throw new Error('A plan has no steps.')
  return { transactions, ...last, gas: gasOf(prepared) }
}

function hashOf(entry: Entry): string {
  const txHash = txHashOf(entry)
  if (txHash === undefined) throw new Error(`${entry.key} was never signed.`)
  return txHash
}
