import { SluiceError, type Checked, type Json, type Log, type Prepared } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { persistSigned, type Broadcast, type PersistResult, type SignAttempt } from './attempts.ts'
import { OrderIdUsed, type OrderVenue } from './book-orders.ts'
import type { Spending } from './budgets.ts'
import { hasOutstanding, isFinal, txHashOf, type Entry } from './entry.ts'
import type { Change, RecordedAnswer, Recorder } from './journal/journal.ts'
import { expireUnsigned, restoreSigned, type LeasedQueue, type LeasedQueues } from './leases.ts'
import { permitOf } from './permits.ts'
import { nonceConflictError, resync, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import {
  broadcastTimedOut,
  checkGas,
  checkPlan,
  checkRelays,
  gasOf,
  newEntries,
  orTimeout,
  persistTimedOut,
  setsFees,
  timedOutBeforeSigning,
  type ImmediateResult,
  type RoutedRequest,
  type SignPermit,
  type SubmitResult,
  type TransactionTarget,
} from './submit-request.ts'
import { addressKey } from '../base/addresses.ts'

export type Submit = (request: RoutedRequest, options: ReplaceOptions, signal: AbortSignal) => Promise<SubmitResult>

/** How a request replaces another transaction. */
export interface ReplaceOptions {
  /** It takes the nonce of a pending transaction, at fees that suffice for that unless the caller set them. */
  replaces?: boolean
  /** Key of the only entry that it may replace. */
  only?: string
  /** Why; journaled with the replaced transaction. */
  reason?: string
}

export interface SubmitParts {
  target: TransactionTarget
  queues: LeasedQueues
  recorder: Recorder
  signAttempt: SignAttempt
  signPermit: SignPermit
  broadcast: Broadcast
  /** Ids of attempts that wait for the steps of their plan before them. */
  unsent: Set<string>
  /** Keys of entries that a request is signing now. Only that request expires them. */
  signing: Set<string>
  reserveOrderIds: ReserveOrderIds
  /** Wakes the watcher: there is something new to watch. */
  wake: () => void
  /** Closes a nonce gap that later transactions wait behind. */
  fill: (address: string, nonce: number) => void
  /** Finishes work even if its request has ended. */
  inBackground: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
  nowMs: () => number
}

/** The result of a check, with the queue and the fees that it was made for. */
interface CheckResult {
  checked: Checked
  queue: NonceQueue
  /** Fees of the transaction to replace. */
  over: Json | undefined
  /** From memory: valid only while it agrees with the queue. */
  isCached?: true
}

/** A request with its nonces, signed. */
interface SignedRequest {
  leased: LeasedQueue
  sequences: readonly Json[]
  queued: readonly Entry[]
  persisted: PersistResult
  result: SubmitResult
}

/**
 * plan → check → queue → nonces → journal → signer → journal → nodes. Nothing is signed before it is journaled, and nothing is sent before
 * its bytes are known to be stored. Until then an error means that nothing was sent and nothing will be. From then on the answer is the
 * hash, whatever the nodes answer, because the bytes may still be mined.
 */
export function createSubmit(parts: SubmitParts): Submit {
  const {
    target,
    queues,
    recorder,
    signAttempt,
    signPermit,
    broadcast,
    unsent,
    signing,
    reserveOrderIds,
    wake,
    fill,
    inBackground,
    closing,
    log,
    nowMs,
  } = parts
  const { rail } = target.impl

  return async function submit(request, options, signal) {
    checkPlan(request)
    const { signer, requestId } = request
    // We take the queue first, so that the chain's answer updates our queue. Other requests may use the queue while we wait.
    const { queue } = await queues.use(signer, signal, async (leased) => leased)
    const releaseIds = await reserveOrderIds(request)
    const signed = await checkAndSign(request, options, queue, signal).finally(releaseIds)
    const { result, persisted, leased } = signed
    const entries =
      persisted.is === 'persisted'
        ? persisted.entries
        : await orTimeout(inBackground(finishUnknown(signed, persisted)), signal, () => persistTimedOut(requestId))
    // An exchange that answers at once leaves nothing to watch, and its rate limits are tight.
    if (target.connector === undefined) wake()
    const landed = await orTimeout(inBackground(broadcastInOrder(entries, leased)), signal, () =>
      broadcastTimedOut(result.txHash, requestId),
    )
    return landed && !request.keyed ? { ...result, landed } : result
  }

  async function checkAndSign(request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue, signal: AbortSignal) {
    const first = checkFromCache(request, options, queue) ?? (await check(request, options, queue, signal))
    return queues.use(request.signer, signal, async (leased) => {
      const isSame = leased.queue === first.queue && feesToReplace(request, options, leased.queue) === first.over
      const isValid = isSame && (!first.isCached || agrees(first.checked, leased.queue))
      return sign(request, options, leased, isValid ? first : await check(request, options, leased.queue, signal), signal)
    })
  }

  /** Without asking the chain. Not for a nonce that the caller chose: only the chain can check it. */
  function checkFromCache(request: RoutedRequest, { replaces }: ReplaceOptions, queue: NonceQueue): CheckResult | undefined {
    const checked = request.nonce === undefined && !replaces && !request.precondition ? request.checkFromCache?.() : undefined
    return checked && agrees(checked, queue) ? { checked, queue, over: undefined, isCached: true } : undefined
  }

  async function check(request: RoutedRequest, options: ReplaceOptions, queue: NonceQueue, signal: AbortSignal): Promise<CheckResult> {
    const { plan, signer, feeOverrides, precondition } = request
    const over = feesToReplace(request, options, queue)
    const update = queue.startSync()
    const { permit } = request
    const withPermit = permit && rail.permits && { withPermit: permit.withPermit }
    const checking = rail.check(plan.steps, plan.needs, signer, { feeOverrides: feeOverrides, over, ...withPermit }, { signal })
    const holding = precondition?.(checking)
    // Of two errors the check's says more.
    holding?.catch(() => {})
    const checked = await orTimeout(checking, signal, timedOutBeforeSigning)
    await orTimeout(Promise.resolve(holding), signal, timedOutBeforeSigning)
    update(checked.synced)
    await resync(rail, queue, signal)
    return { checked, queue, over }
  }

  function feesToReplace({ nonce }: RoutedRequest, { replaces }: ReplaceOptions, queue: NonceQueue): Json | undefined {
    return replaces && nonce !== undefined ? queue.pendingOn(nonce)?.fees : undefined
  }

  /** Claims nonces and persists signed bytes. @throws an error that means that nothing was stored and nothing will be */
  async function sign(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    { checked }: CheckResult,
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
      const spending = recorder.reserve && spendingOf(request, queued, { prepared, pending })
      await recorder.open(queued, lease, request.keyed?.claim, request.clientOrders, spending)
      const signed = await orTimeout(
        Promise.all(queued.map((entry, index) => signOne(entry, prepared[index], request, permitSigning))),
        signal,
        timedOutBeforeSigning,
      )
      const result = submitResultOf(signed, prepared)
      const persisted = await persistSigned(
        recorder,
        {
          changes: async () => ({
            own: queued.map((before, index) => ({ before, after: signed[index] ?? before })),
            beside: await replacedBy(signed, pending, options),
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

  function spendingOf(
    { caller }: RoutedRequest,
    queued: readonly Entry[],
    { prepared, pending }: { prepared: readonly Prepared[]; pending: readonly (PendingTransaction | undefined)[] },
  ): Spending {
    const steps = queued.map((entry, index) => {
      const priced = prepared[index]
      if (!priced) throw new Error('A step was not priced.')
      const replaces = pending[index]?.key
      return { entry, maxCostRaw: rail.cost(priced.step, priced.fees), ...(replaces !== undefined && { replaces }) }
    })
    return { client: caller.id, is: 'new', steps }
  }

  async function claim(request: RoutedRequest, { replaces = false, only }: ReplaceOptions, queue: NonceQueue, checked: Checked) {
    const { requestId, nonce, kind, feeOverrides } = request
    const { prepared, synced, checkFunds } = checked
    const claimed = queue.claim({
      requestId,
      nonce,
      count: prepared.length,
      chosenByCaller: nonce !== undefined && kind !== 'fill',
      fees: prepared.map(({ fees }) => fees),
      costsRaw: prepared.map(({ step, fees }) => rail.cost(step, fees)),
      mayReplace: replaces || setsFees(feeOverrides),
      only,
    })
    if ('conflict' in claimed) throw await nonceConflictError(claimed.conflict, { recorder, target, address: queue.address })
    // Checked in the same turn of the event loop as the claim: if the funds cover each of two requests but not both, one is refused. A
    // cancel or fill is never refused for lack of funds, because it lets other transactions be mined.
    const shortage = kind === 'cancel' || kind === 'fill' ? undefined : checkFunds(queue.committedRaw(synced, claimed.sequences))
    if (!shortage) return claimed
    releaseAndFill(queue, claimed.sequences)
    throw shortage
  }

  async function signOne(
    entry: Entry,
    prepared: Prepared | undefined,
    request: RoutedRequest,
    permitSigning: { began: boolean },
  ): Promise<Entry> {
    if (!prepared) throw new Error('A step was not priced.')
    const signable = { ...entry, step: await stepWithPermits(entry, request, permitSigning) }
    return { ...signable, state: 'SIGNED', attempts: [await signAttempt(signable, prepared.fees)] }
  }

  /** The step with the permits of the entry, which is in the journal with them. Nothing but the signed transaction gets their signatures. */
  async function stepWithPermits(
    { step: plain, permits = [], chain, network, address }: Entry,
    { permit: takes }: RoutedRequest,
    permitSigning: { began: boolean },
  ): Promise<Json> {
    let step = plain
    for (const each of permits) {
      if (!takes?.withPermit || !rail.permits) throw new Error('The step takes no permit.')
      const permit = permitOf(each)
      permitSigning.began = true
      const signature = await signPermit({ chain, network, address, permit }).catch((error: unknown) => {
        // Of other errors it is not certain whether a signature was made.
        if (error instanceof SluiceError && error.name === 'FORBIDDEN') permitSigning.began = false
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

  function addToQueue(entries: readonly Entry[], { queue, permits }: LeasedQueue): void {
    for (const entry of entries) {
      permits.set(entry)
      restoreSigned(entry, queue, rail)
      signing.delete(entry.key)
    }
  }

  /** After a write with an unknown commit. Its nonces stay claimed until the outcome is known. */
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

  /**
   * In sequence, because some nodes refuse a nonce until they have the one below. Returns the last result, if the exchange gave it at once.
   */
  async function broadcastInOrder(entries: readonly Entry[], { lease }: LeasedQueue): Promise<ImmediateResult | undefined> {
    const results: (ImmediateResult | undefined)[] = []
    const steps = entries.flatMap((entry) => entry.attempts.slice(-1).map((attempt) => ({ entry, attempt })))
    for (const { attempt } of steps) unsent.add(attempt.id)
    for (const { entry, attempt } of steps) {
      unsent.delete(attempt.id)
      results.push(await broadcast(entry, attempt, lease))
    }
    if (target.connector !== undefined && results.includes(undefined)) wake()
    return results.at(-1)
  }
}

const withoutPermits = ({ permits: _permits, ...entry }: Entry): Entry => entry

/** Whether a cached check agrees with the queue. If the native coin seems not to suffice, the chain must be asked. */
const agrees = ({ synced, checkFunds }: Checked, queue: NonceQueue) =>
  queue.agreesWith(synced) && !checkFunds(queue.committedRaw(synced, []))

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

/**
 * Reserves a request's client order ids while it is on its way into the journal. Call the returned function to release them.
 * @throws OrderIdUsed
 */
export type ReserveOrderIds = (request: RoutedRequest) => Promise<() => void>

/**
 * Checks before the chain is asked and nonces are claimed, so that a refusal leaves no nonce gap. The journal checks again, for all servers.
 * @param expireLeftovers frees the ids of entries that are no longer being signed
 */
export function createReserveOrderIds(recorder: Recorder, expireLeftovers: () => Promise<void>): ReserveOrderIds {
  const reserved = new Set<string>()

  return async ({ clientOrders = [], venue, address, network: { chain, network } }) => {
    if (!venue || clientOrders.length === 0) return () => {}
    const { connector } = venue
    const ids = clientOrders.map(({ clientOrderId }) => clientOrderId)
    const names = ids.map((id) => JSON.stringify([connector, addressKey(address), id]))
    const duplicate = names.findIndex((name) => reserved.has(name))
    if (duplicate >= 0) throw new OrderIdUsed(ids[duplicate] ?? '')
    for (const name of names) reserved.add(name)
    const release = () => {
      for (const name of names) reserved.delete(name)
    }
    try {
      await checkUnused({ chain, network, connector, address }, ids)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  async function checkUnused(venue: OrderVenue, ids: readonly string[]): Promise<void> {
    if ((await recorder.orders.firstUsed(venue, ids)) === undefined) return
    await expireLeftovers()
    const used = await recorder.orders.firstUsed(venue, ids)
    if (used !== undefined) throw new OrderIdUsed(used)
  }
}
