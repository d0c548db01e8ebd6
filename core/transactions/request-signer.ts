// Takes a checked request to signed bytes in the journal.
import { SluiceError, type Json, type Prepared } from '../contracts/index.ts'
import { persistSigned, type PersistResult, type SignAttempt } from './attempts.ts'
import { isFinal, txHashOf, type Entry } from './entry.ts'
import { plannedOf } from './entry-terms.ts'
import type { Change, Recorder } from './journal/journal.ts'
import { expireUnsigned, restoreSigned, type LeasedQueue } from './leases.ts'
import { createNonceClaims, type NonceClaimParts } from './nonce-claims.ts'
import type { PendingTransaction } from './nonce-queue.ts'
import { permitOf } from './permits.ts'
import type { CheckResult } from './plan-checker.ts'
import {
  gasOf,
  orTimeout,
  timedOutBeforeSigning,
  type ReplaceOptions,
  type RoutedRequest,
  type SignPermit,
  type SubmitResult,
} from './submit-request.ts'

export interface RequestSignerParts extends NonceClaimParts {
  signAttempt: SignAttempt
  signPermit: SignPermit
  closing: AbortSignal
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
  const { target, recorder, signing, wake, closing, log } = parts
  const { rail } = target.impl
  const claims = createNonceClaims(parts)

  async function sign(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    result: CheckResult,
    signal: AbortSignal,
  ): Promise<SignedRequest> {
    const { lease } = leased
    const { prepared } = result.checked
    const { sequences, pending, queued, earlier } = await claims.claim(request, options, leased, result, signal)
    const permitSigning = { began: false }
    try {
      if (request.recheck) await orTimeout(recheckBehind(earlier, request), signal, timedOutBeforeSigning)
      const signed = await orTimeout(
        Promise.all(queued.map((entry, index) => signOne(entry, prepared[index], request, permitSigning, parts))),
        signal,
        timedOutBeforeSigning,
      )
      const submitted = submitResultOf(signed, prepared)
      // Made before anything is stored, so that an error in making it means that nothing was sent.
      const said = request.answer(submitted)
      const planned = request.words && plannedOf(said)
      const persisted = await persistSigned(
        recorder,
        {
          changes: async () => ({
            own: queued.map((before, index) => ({ before, after: withPlanned(signed[index] ?? before, planned) })),
            beside: await replacedBy(signed, pending, options, recorder),
          }),
          instead: expireUnsigned('The store did not record the signed bytes: nothing was sent.'),
          lease,
          answer: request.keyed && { claim: request.keyed.claim, ...request.keyed.answerOf(said) },
          onRecorded: request.keyed?.onRecorded,
          requestId: request.requestId,
        },
        closing,
        log,
      )
      if (persisted.is === 'persisted') addToQueue(persisted.entries, leased)
      return { leased, sequences, queued, persisted, result: submitted }
    } catch (error) {
      await claims.giveBack({ sequences, queued }, leased, error, !permitSigning.began)
      throw error
    }
  }

  function addToQueue(entries: readonly Entry[], { queue, permits }: LeasedQueue): void {
    for (const entry of entries) {
      permits.set(entry)
      restoreSigned(entry, queue, rail)
      signing.delete(entry.key)
    }
  }

  async function finishUnknown(
    { leased, sequences, queued }: SignedRequest,
    { outcome, cause }: PersistResult & { is: 'unknown' },
  ): Promise<readonly Entry[]> {
    const entries = await outcome
    if (entries) addToQueue(entries, leased)
    else claims.release(leased.queue, sequences)
    for (const { key } of queued) signing.delete(key)
    if (!entries) throw cause
    wake()
    return entries
  }

  return { sign, finishUnknown }
}

async function recheckBehind(earlier: Promise<unknown>, { recheck }: RoutedRequest): Promise<void> {
  await earlier
  await recheck?.()
}

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

/** The last step is what was asked for: those before it prepare it. */
const withPlanned = (entry: Entry, planned: Json | undefined): Entry =>
  planned !== undefined && entry.part.index === entry.part.of - 1 ? { ...entry, planned } : entry

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
