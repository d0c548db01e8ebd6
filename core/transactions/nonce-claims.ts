// Takes a checked request to its nonces and its unsigned entries in the journal, and gives the nonces back where nothing is signed.
import { SluiceError, type Checked, type Json, type Log, type Prepared, type Rail } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { givesNothing, type Admission, type Commitment, type PlannedSpending, type Spending, type SpendingEntry } from './budgets.ts'
import { hasOutstanding, type Entry } from './entry.ts'
import type { Recorder } from './journal/journal.ts'
import { expireUnsigned, type LeasedQueue, type LeasedQueues } from './leases.ts'
import { nonceConflictError, type ClaimedNonces, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import type { CheckResult } from './plan-checker.ts'
import {
  checkGas,
  checkRelays,
  newEntries,
  plannedEntries,
  orTimeout,
  setsFees,
  timedOutBeforeSigning,
  type MayClaim,
  type ReplaceOptions,
  type RoutedRequest,
  type TransactionTarget,
} from './submit-request.ts'
import { reasonOf } from '../base/errors.ts'

/** A request with its nonces, whose unsigned entries are in the journal. */
export interface ClaimedRequest {
  readonly sequences: readonly Json[]
  /** What it takes the place of, for each nonce. */
  readonly pending: readonly (PendingTransaction | undefined)[]
  readonly queued: readonly Entry[]
  /** Settles once those of all requests that had nonces of the queue before are in the journal, too, or never will be. */
  readonly earlier: Promise<unknown>
}

export interface NonceClaimParts {
  target: TransactionTarget
  queues: LeasedQueues
  recorder: Recorder
  /** Keys of entries that a request is signing now. Only that request expires them. */
  signing: Set<string>
  /** Wakes the watcher: there is something new to watch. */
  wake: () => void
  /** Closes a nonce gap that later transactions wait behind. */
  fill: (address: string, nonce: number) => void
  mayClaim: MayClaim
  /** How old a block is. 0 where its time says nothing, as on local networks. */
  ageSeconds: (target: TransactionTarget, head: NonNullable<Checked['head']>) => number
  /** Tells requests that wait for their nonces. */
  claimed: (address: string) => void
  log: Log
  nowMs: () => number
}

export interface NonceClaims {
  /** @throws an error that means that nothing is journaled, and no nonce is claimed */
  claim(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    result: CheckResult,
    signal: AbortSignal,
  ): Promise<ClaimedRequest>
  /**
   * Nothing was signed, or the signed bytes were discarded.
   * @param isWithoutRights whether it is certain that none of its permits was signed
   */
  giveBack(
    claimed: Pick<ClaimedRequest, 'sequences' | 'queued'>,
    leased: LeasedQueue,
    error: unknown,
    isWithoutRights: boolean,
  ): Promise<void>
  /** Its entries have expired already. */
  release(queue: NonceQueue, sequences: readonly Json[]): void
}

export function createNonceClaims(parts: NonceClaimParts): NonceClaims {
  const { target, queues, recorder, signing, wake, fill, mayClaim, log, nowMs } = parts
  const { rail } = target.impl
  const openInOrder = createOpenings()

  async function claim(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    { checked, commitment = request.commitment }: CheckResult,
    signal: AbortSignal,
  ): Promise<ClaimedRequest> {
    checkGas(request, checked)
    const spending = { ...request, ...(commitment && { commitment }), ...(commitment?.takes && { reduces: false }) }
    // Without limits nothing is awaited between the check and the claim.
    const admitting = admit(spending, leased.queue, checked.prepared, signal)
    const admission = admitting instanceof Promise ? await admitting : admitting
    try {
      const refusing = mayClaim(spending)
      if (refusing) await orTimeout(refusing, signal, timedOutBeforeSigning)
      request.hold?.({ commitment: commitment ?? givesNothing, prepared: checked.prepared })
      return await openInOrder(leased.queue, () => openEntries(spending, options, leased, { checked, admission }))
    } finally {
      admission?.()
    }
  }

  /** Asks the limits of the client while no nonce is claimed yet. @returns undefined where it has none. A rejection is LIMIT_EXCEEDED or TIMEOUT */
  function admit(request: RoutedRequest, queue: NonceQueue, prepared: readonly Prepared[], signal: AbortSignal) {
    const { caller, nonce, network } = request
    const admitting = recorder.admit({ client: caller.id, chain: network.chain, network: network.network }, () => {
      const pending = nonce === undefined ? [] : queue.pendingFrom(nonce, prepared.length)
      return spendingOf(request, plannedEntries([request]), { prepared, pending, rail })
    })
    return admitting instanceof Promise ? orEndTurn(admitting, signal) : admitting
  }

  /** @throws an error that means that the nonces are given back */
  async function openEntries(
    request: RoutedRequest,
    options: ReplaceOptions,
    leased: LeasedQueue,
    { checked, admission }: { readonly checked: Checked; readonly admission: Admission | undefined },
  ) {
    const { queue, lease, permits } = leased
    const { prepared } = checked
    const { sequences, chosenByCaller, pending } = await claimNonces(request, options, queue, checked)
    let queued: readonly Entry[] = []
    try {
      // A gap is filled privately where something private waits behind it: a public fill would tell that it comes.
      const isHidden = request.privateOnly === true || (request.kind === 'fill' && queue.hasPrivate())
      const privateOnly = pending.map((each) => isHidden || each?.privateOnly === true)
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
        ...(checked.head && { head: { ...checked.head, ageSeconds: parts.ageSeconds(target, checked.head) } }),
        nowMs: nowMs(),
      })
      // In the same turn of the event loop: of two requests that want the same right one is refused.
      for (const entry of queued) permits.set(entry)
      for (const { key } of queued) signing.add(key)
      await recorder.open(queued, lease, request.keyed?.claim, request.clientOrders, {
        ...spendingOf(request, queued, { prepared, pending, rail }),
        ...(admission && { admission }),
      })
      return { sequences, pending, queued }
    } catch (error) {
      await giveBack({ sequences, queued }, leased, error, true)
      throw error
    }
  }

  async function claimNonces(request: RoutedRequest, { replaces = false, only }: ReplaceOptions, queue: NonceQueue, checked: Checked) {
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
    // Given by a caller, and nothing is pending on it: what was may be final.
    const isGiven = nonce !== undefined && rail.sequences === 'increasing'
    try {
      const refused = shortage ?? (isGiven ? await usedBefore(claimed, queue, { target, recorder }) : undefined)
      if (refused) throw refused
      parts.claimed(queue.address)
      return claimed
    } catch (error) {
      release(queue, claimed.sequences)
      throw error
    }
  }

  function release(queue: NonceQueue, sequences: readonly Json[]): void {
    const gaps = queue.release(sequences)
    // If another server has owned the queue since then, its owner fills the gaps.
    if (queues.held(queue.address)?.queue === queue) for (const gap of gaps) fill(queue.address, rail.nonceOf(gap))
  }

  const giveBack: NonceClaims['giveBack'] = async ({ sequences, queued }, leased, error, isWithoutRights) => {
    release(leased.queue, sequences)
    await expire(queued, leased, error, isWithoutRights)
  }

  /** If the write fails, `expireLeftovers` does it later. */
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
      const reason = reasonOf(failure)
      log.info({ requestId: queued[0]?.requestId, reason }, 'expiry of an unsigned request not persisted yet')
    } finally {
      for (const { key } of queued) signing.delete(key)
    }
  }

  return { claim, giveBack, release }
}

/** Requests with nonces whose entries are on their way into the journal. A store with several connections may write the later ones first. */
function createOpenings() {
  const opening = new WeakMap<NonceQueue, Set<Promise<unknown>>>()
  /** @param open claims its nonces in the same turn of the event loop */
  return async function openInOrder(queue: NonceQueue, open: () => Promise<Omit<ClaimedRequest, 'earlier'>>): Promise<ClaimedRequest> {
    const ofQueue = opening.get(queue) ?? new Set()
    opening.set(queue, ofQueue)
    const earlier = Promise.allSettled(ofQueue)
    const opened = open()
    ofQueue.add(opened)
    try {
      return { ...(await opened), earlier }
    } finally {
      ofQueue.delete(opened)
    }
  }
}

/**
 * An exchange of signed actions tells no nonces that were used: the journal has those of this server. It would refuse the action, and what the first one left
 * behind would be taken for the trace of the second.
 */
async function usedBefore(
  { sequences, pending }: ClaimedNonces,
  queue: NonceQueue,
  { target, recorder }: Pick<NonceClaimParts, 'target' | 'recorder'>,
): Promise<SluiceError | undefined> {
  const { chain, network, connector, impl } = target
  for (const [index, sequence] of sequences.entries()) {
    const nonce = impl.rail.nonceOf(sequence)
    if (pending[index]) continue
    const { entries } = await recorder.list({ chain, network, on: { connector, address: queue.address }, nonce })
    if (entries.some(({ landed }) => landed?.ok))
      return nonceConflictError({ is: 'past', nonce, next: queue.nextNonce() }, { recorder, target, address: queue.address })
  }
  return undefined
}

/** If a request has ended before its turn came, the turn is the next one's. @throws SluiceError LIMIT_EXCEEDED, TIMEOUT */
export const orEndTurn = (admitting: Promise<Admission>, signal: AbortSignal): Promise<Admission> =>
  orTimeout(admitting, signal, timedOutBeforeSigning).catch((error: unknown) => {
    admitting.then(
      (end) => end(),
      () => {},
    )
    throw error
  })

/** Of requests of one client whose plans are not checked yet: without fees. */
export function unpricedSpending(requests: readonly RoutedRequest[], commitment: Commitment): PlannedSpending {
  const [first] = requests
  if (!first) throw new Error('Nothing is requested.')
  const steps = plannedEntries(requests).map((entry) => ({ entry, maxCostRaw: 0n, valueRaw: 0n }))
  return { client: first.caller.id, is: 'new', coin: first.network.impl.nativeCurrency, steps, commitment }
}

const withoutPermits = ({ permits: _permits, ...entry }: Entry): Entry => entry

function spendingOf<E extends SpendingEntry>(
  { caller, commitment, touches, approval, network }: RoutedRequest,
  queued: readonly E[],
  { prepared, pending, rail }: { prepared: readonly Prepared[]; pending: readonly (PendingTransaction | undefined)[]; rail: Rail },
): Spending<E> {
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
    ...(caller.permissions?.has('thin') && { hadThin: true }),
    ...(approval && { approval }),
  }
}
