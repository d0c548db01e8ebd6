import { SluiceError, type Json, type Log, type Rail } from '../contracts/index.ts'
import { persistSigned, type Broadcast, type PersistResult, type SignAttempt } from './attempts.ts'
import { isFinal, txHashOf, type Entry } from './entry.ts'
import type { Change, Recorder } from './journal/journal.ts'
import { hasEnded, hasWaited } from './lifecycle.ts'
import { pendingOf, restoreSigned, type LeasedQueue, type LeasedQueues } from './leases.ts'
import { nonceConflictError, syncQueue, type NonceConflict, type NonceQueue } from './nonce-queue.ts'
import type { Submit } from './submit.ts'
import type { ReplaceOptions } from './submit-request.ts'
import {
  broadcastTimedOut,
  checkRelays,
  orTimeout,
  persistTimedOut,
  setsFees,
  timedOutBeforeSigning,
  type IdempotencyContext,
  type Origin,
  type SubmitResult,
  type TransactionTarget,
} from './submit-request.ts'

type SentTransaction = Pick<SubmitResult, 'txHash' | 'nonce'>

/** What cancels and speed-ups need, requested or automatic. */
export interface ReplaceParts {
  target: TransactionTarget
  queues: LeasedQueues
  recorder: Recorder
  submit: Submit
}

export interface CancelRequest extends Origin {
  /** Whose key signs, where an exchange's own rail has another signer than the wallet. */
  signer?: string
  /** Key of the entry to cancel. If another transaction has the nonce by then, nothing is cancelled. */
  only?: string
}

/** Replaces a pending transaction by a transfer of nothing to oneself: the one on a nonce, or the lowest pending one. */
export function createCancel(parts: ReplaceParts) {
  const { target, queues } = parts

  /** The lowest that is not a cancel itself, so that a second call cancels the next one. */
  async function nonceToCancel(nonce: number | undefined, queue: NonceQueue): Promise<number> {
    if (nonce === undefined) {
      const pending = await pendingEntries(queue, parts)
      const lowest = pending.find(({ kind }) => kind !== 'cancel') ?? pending[0]
      if (lowest) return lowest.nonce
    } else if (queue.pendingOn(nonce) !== undefined || queue.statusOf({ nonce }) !== 'free') {
      // If it is not ours it may be another program's, or mined. The submission reports which.
      return nonce
    }
    throw await nothingPendingError(queue, nonce, 'cancel', parts)
  }

  return async function cancel({ only, ...origin }: CancelRequest, signal: AbortSignal): Promise<SentTransaction> {
    const { signer = origin.address } = origin
    const { nonce, again } = await queues.use(signer, signal, async ({ queue }) => {
      await syncQueue(target.impl.rail, queue, signal)
      const chosen = await nonceToCancel(origin.nonce, queue)
      return { nonce: chosen, again: isPrivateEmpty(queue.pendingOn(chosen)) }
    })
    return submitEmpty({ ...origin, nonce, signer, again }, 'cancel', { replaces: true, only }, parts, signal)
  }
}

/** Whether relays have a transfer of nothing there, which some may have taken for a withdrawal. */
export const isPrivateEmpty = (of: Pick<Entry, 'kind' | 'privateOnly'> | undefined): boolean =>
  of?.privateOnly === true && (of.kind === 'cancel' || of.kind === 'fill')

/** A transfer of nothing to oneself, on a nonce. */
export async function submitEmpty(
  { again = false, ...origin }: Origin & { nonce: number; signer: string; again?: boolean },
  kind: 'cancel' | 'fill',
  options: ReplaceOptions,
  { target, submit }: Pick<ReplaceParts, 'target' | 'submit'>,
  signal: AbortSignal,
): Promise<SentTransaction> {
  const { signer } = origin
  const replace = replaceOf(target)
  const step = again && replace.cancelAgain ? replace.cancelAgain(signer) : replace.cancel(signer)
  const plan = { steps: [step] as const, needs: [], memo: null }
  const answer = ({ txHash, nonce }: SubmitResult) => ({ txHash, nonce })
  return answer(
    await submit(
      { ...origin, plan, scope: { contracts: [signer], valueRaw: 0n, stepGas: target.impl.rail.transferGas }, kind, answer },
      options,
      signal,
    ),
  )
}

/** @throws SluiceError UNSUPPORTED where signed transactions cannot be replaced */
export function replaceOf({ chain, impl }: TransactionTarget): NonNullable<Rail['replace']> {
  if (impl.rail.replace) return impl.rail.replace
  throw new SluiceError('UNSUPPORTED', `${chain} cannot replace a transaction once it was sent.`)
}

/** Raises a pending transaction's fees for a caller: the one on a nonce, or the lowest pending one. */
export function createSpeedUp({ target, recorder, raise }: Pick<ReplaceParts, 'target' | 'recorder'> & { raise: Raise }) {
  async function pick(nonce: number | undefined, { queue }: LeasedQueue, signal: AbortSignal): Promise<Entry> {
    await syncQueue(target.impl.rail, queue, signal)
    const key = nonce === undefined ? undefined : queue.pendingOn(nonce)?.key
    const [lowest] = nonce === undefined ? await pendingEntries(queue, { target, recorder }) : []
    const entry = key === undefined ? lowest : await recorder.read(key)
    if (entry) return entry
    throw await nothingPendingError(queue, nonce, 'speed up', { target, recorder })
  }

  return async function speedUp(origin: Origin, signal: AbortSignal): Promise<SentTransaction> {
    const { address, caller, requestId, keyed, nonce, feeOverrides } = origin
    const replace = replaceOf(target)
    const head = await orTimeout(target.impl.head({ signal }), signal, timedOutBeforeSigning)
    const feesGiven = setsFees(feeOverrides)
    /** What has to end is not signed again: at higher fees it would be mined at a market that its caller has waited for. */
    async function pickGoing(leased: LeasedQueue): Promise<Entry> {
      const entry = await pick(nonce, leased, signal)
      const reason =
        hasEnded(entry, head) ?? (hasWaited(entry, head) ? (await recorder.revalue([entry], leased.lease)).get(entry.key) : undefined)
      if (reason === undefined) return entry
      throw new SluiceError('LIMIT_EXCEEDED', `${reason} So its fees are not raised, and the server cancels it: send a new request.`, {
        details: { limit: 'waiting', txHash: txHashOf(entry) },
      })
    }
    const feesOver = (over: Json): Json => {
      const fees = replace.bump(over, head, feesGiven ? feeOverrides : undefined)
      if (fees) return fees
      throw new SluiceError(
        'TRANSACTION_GAS_PRICE_TOO_LOW',
        `A replacement has to offer ${replace.minimumReplacement(over)}, which is above the network's feeCap: wait, or raise feeCap in its settings.`,
      )
    }
    return raise({ address, client: caller.id, requestId, keyed, feesGiven, pick: pickGoing, feesOver }, signal)
  }
}

export type Raise = (request: RaiseRequest, signal: AbortSignal) => Promise<SentTransaction>

/** A request for another attempt at higher fees. */
export interface RaiseRequest {
  /** The address of the queue. */
  address: string
  /** Who asks, as in an entry: the client's id, or that of the server itself. */
  client: string
  requestId: string
  keyed?: IdempotencyContext
  /** The caller sets the fees: the server does not raise them afterwards. */
  feesGiven: boolean
  /** Chooses the entry once the queue is ours. */
  pick: (leased: LeasedQueue) => Promise<Entry>
  /** New fees over those that are to be outbid. */
  feesOver: (fees: Json) => Json
}

export interface RaiseParts extends Pick<ReplaceParts, 'target' | 'queues' | 'recorder'> {
  signAttempt: SignAttempt
  mayRaise: (entry: Entry) => Promise<void>
  broadcast: Broadcast
  wake: () => void
  /** Finishes work even if its request has ended. */
  inBackground: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
}

/** Signs the same step with the same sequence at higher fees: one more attempt of the same entry. At most one attempt is mined. */
export function createRaise(parts: RaiseParts): Raise {
  const { target, queues, recorder, signAttempt, mayRaise, broadcast, wake, inBackground, closing, log } = parts
  const { impl } = target
  const { rail, nativeCurrency } = impl

  return async function raise(request, signal) {
    const { address, requestId } = request
    const [balanceRaw = 0n] = await orTimeout(impl.balances(address, [nativeCurrency], { signal }), signal, timedOutBeforeSigning)
    const { leased, sequence, persisted } = await queues.use(address, signal, (ours) => sign(request, ours, balanceRaw, signal))
    const [entry] =
      persisted.is === 'persisted'
        ? persisted.entries
        : await orTimeout(inBackground(finishUnknown(leased, sequence, persisted)), signal, () => persistTimedOut(requestId))
    const attempt = entry?.attempts.at(-1)
    if (!entry || !attempt) throw new Error('The journal has lost an attempt.')
    wake()
    await orTimeout(inBackground(broadcast(entry, attempt, leased.lease)), signal, () => broadcastTimedOut(attempt.id, requestId))
    return { txHash: attempt.id, nonce: entry.nonce }
  }

  /** @throws an error that means that the attempt was not stored and will not be */
  async function sign(
    { client, requestId, keyed, feesGiven, pick, feesOver }: RaiseRequest,
    leased: LeasedQueue,
    balanceRaw: bigint,
    signal: AbortSignal,
  ) {
    const { queue, lease } = leased
    const entry = await pick(leased)
    const { key, sequence, step, nonce, privateOnly } = entry
    const { address } = queue
    if (privateOnly) checkRelays(target)
    if (entry.bounds) await mayRaise(entry)
    const conflictError = (conflict: NonceConflict) => nonceConflictError(conflict, { recorder, target, address })
    const last = pendingOf(entry, rail)
    const fees = feesOver(last.fees)
    const costRaw = rail.cost(step, fees)
    const claim = { requestId, count: 1, nonce, chosenByCaller: false, fees: [fees], costsRaw: [costRaw], mayReplace: true, only: key }
    const claimed = queue.claim(claim)
    if ('conflict' in claimed) throw await conflictError(claimed.conflict)
    try {
      // Nodes would refuse it, and it would reserve funds that other transactions need.
      if (costRaw > balanceRaw) throw tooExpensive(address, nativeCurrency.symbol)
      // In a write of its own, since it comes before the signature and the new attempt after it.
      const lastCostRaw = last.costRaw
      await recorder.reserve(
        {
          client,
          is: 'raise',
          coin: nativeCurrency,
          steps: [{ entry, maxCostRaw: costRaw, valueRaw: rail.outline(step).valueRaw, lastCostRaw }],
        },
        lease,
      )
      const attempt = await orTimeout(signAttempt(entry, fees), signal, timedOutBeforeSigning)
      const raised = async (): Promise<readonly Change[]> => {
        const before = await recorder.read(key)
        if (!before || before.landed || isFinal(before)) throw await conflictError({ is: 'past', nonce, next: queue.nextNonce() })
        return [{ before, after: { ...before, attempts: [...before.attempts, attempt], feesGiven: before.feesGiven || feesGiven } }]
      }
      const answer = keyed && { claim: keyed.claim, ...keyed.answerOf({ txHash: attempt.id, nonce }) }
      const changes = async () => ({ own: await raised() })
      const persisted = await persistSigned(
        recorder,
        { changes, instead: (before) => ({ ...before }), lease, answer, onRecorded: keyed?.onRecorded, requestId },
        closing,
        log,
      )
      if (persisted.is === 'persisted') addToQueue(leased, persisted.entries)
      return { leased, sequence, persisted }
    } catch (error) {
      queue.release([sequence])
      throw error
    }
  }

  /** After a write with an unknown commit. */
  async function finishUnknown(leased: LeasedQueue, sequence: Json, { outcome, cause }: PersistResult & { is: 'unknown' }) {
    const entries = await outcome
    if (!entries) {
      leased.queue.release([sequence])
      throw cause
    }
    addToQueue(leased, entries)
    wake()
    return entries
  }

  function addToQueue({ queue }: LeasedQueue, entries: readonly Entry[]): void {
    for (const entry of entries) restoreSigned(entry, queue, rail)
  }
}

const tooExpensive = (address: string, symbol: string) =>
  new SluiceError(
    'OUT_OF_GAS',
    `${address} does not hold the ${symbol} that the transaction could cost at higher fees, so nothing more was signed: fund it, or wait.`,
  )

type PendingParts = Pick<ReplaceParts, 'target' | 'recorder'>

/** The wallet's entries that wait to be mined and are not being replaced, lowest nonce first. The queue must be ours and in sync. */
async function pendingEntries(queue: NonceQueue, { recorder, target }: PendingParts): Promise<readonly Entry[]> {
  const { chain, network, connector } = target
  const unfinished = await recorder.unfinished({ chain, network, connector, address: queue.address })
  return unfinished
    .filter(({ attempts, landed, replacedBy }) => attempts.length > 0 && !landed && replacedBy === undefined)
    .filter(({ sequence }) => queue.statusOf({ sequence }) !== 'past')
    .toSorted((a, b) => a.nonce - b.nonce)
}

/** Why nothing of ours is pending, on a nonce or at all: it is still being signed, it is mined, or it does not exist. */
async function nothingPendingError(
  queue: NonceQueue,
  nonce: number | undefined,
  action: string,
  { recorder, target }: PendingParts,
): Promise<SluiceError> {
  const { address } = queue
  const conflictError = (conflict: Pick<NonceConflict, 'is' | 'nonce' | 'requestId'>) =>
    nonceConflictError({ next: queue.nextNonce(), ...conflict }, { recorder, target, address })
  const signing = queue.signingOn(nonce)
  if (signing) return conflictError({ is: 'claimed', ...signing })
  if (nonce !== undefined && queue.statusOf({ nonce }) === 'past') return conflictError({ is: 'past', nonce })
  const what =
    nonce === undefined ? `${address} has no pending transaction in the journal` : `Nothing of ${address} is pending on nonce ${nonce}`
  return new SluiceError('UNKNOWN_TRANSACTION', `${what}: there is nothing to ${action}.`)
}
