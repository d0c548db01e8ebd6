import { SluiceError, type Json, type Log, type Rail } from '../contracts/index.ts'
import { type Broadcast, persistSigned, type PersistResult, type SignAttempt } from './attempts.ts'
import { isFinal, type Entry } from './entry.ts'
import type { Change, Recorder } from './journal/journal.ts'
import { type LeasedQueue, type LeasedQueues, restoreSigned, pendingOf } from './leased-queues.ts'
import { nonceConflictError, syncQueue, type NonceQueue } from './nonce-queue.ts'
import {
  type IdempotencyContext,
  type TransactionTarget,
  timedOutBeforeSigning,
  orTimeout,
  persistTimedOut,
  broadcastTimedOut,
  setsFees,
  type Origin,
  type RoutedRequest,
  type SubmitResult,
} from './submit-request.ts'
import type { ReplaceOptions } from './submit.ts'

export interface RaiseParts {
  site: TransactionTarget
  lanes: LeasedQueues
  recorder: Recorder
  signAttempt: SignAttempt
  dispatch: Broadcast
  wake: () => void
  /** Goes on whatever becomes of the request. */
  goOn: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
}

/** Another attempt that is wanted. */
export interface RaiseRequest {
  /** Of the lane. */
  address: string
  requestId: string
  keyed?: IdempotencyContext
  /** The caller says what it pays: nothing raises that afterwards. */
  feesGiven: boolean
  /** Which entry, once the lane is ours. */
  pick: (held: LeasedQueue) => Promise<Entry>
  /** Of what is to be outbid. */
  feesOver: (fees: Json) => Json
}

/** Signs the same step again on the same slot, at higher fees: one more attempt of the same entry. At most one of them is mined. */
export function createRaise({ site, lanes, recorder, signAttempt, dispatch, wake, goOn, closing, log }: RaiseParts) {
  const { impl } = site
  const { rail, nativeCurrency } = impl

  return async function raise(wanted: RaiseRequest, signal: AbortSignal): Promise<{ txHash: string; nonce: number }> {
    const { address, requestId } = wanted
    const [holdsRaw = 0n] = await orTimeout(impl.balances(address, [nativeCurrency], { signal }), signal, timedOutBeforeSigning)
    const { held, slot, kept } = await lanes.use(address, signal, (ours) => make(wanted, ours, holdsRaw, signal))
    const [entry] =
      kept.is === 'kept' ? kept.entries : await orTimeout(goOn(settle(held, slot, kept)), signal, () => persistTimedOut(requestId))
    const attempt = entry?.attempts.at(-1)
    if (!entry || !attempt) throw new Error('An attempt was kept that is not there.')
    wake()
    await orTimeout(goOn(dispatch(entry, attempt, held.lease)), signal, () => broadcastTimedOut(attempt.id, requestId))
    return { txHash: attempt.id, nonce: entry.nonce }
  }

  /** What it throws says that no further attempt was kept and none will be. */
  async function make(
    { requestId, keyed, feesGiven, pick, feesOver }: RaiseRequest,
    held: LeasedQueue,
    holdsRaw: bigint,
    signal: AbortSignal,
  ) {
    const { queue: lane, lease: guard } = held
    const entry = await pick(held)
    const { key, slot, step, nonce } = entry
    const { address } = lane
    const conflict = (claimed: Parameters<typeof nonceConflictError>[0]) => nonceConflictError(claimed, { recorder, site, address })
    const fees = feesOver(pendingOf(entry, rail).fees)
    const costRaw = rail.cost(step, fees)
    const claimed = lane.claim({
      requestId,
      count: 1,
      nonce,
      chosenByCaller: false,
      fees: [fees],
      costsRaw: [costRaw],
      mayReplace: true,
      only: key,
    })
    if ('conflict' in claimed) throw await conflict(claimed.conflict)
    try {
      // No node would take it, and it would keep coins from others.
      if (costRaw > holdsRaw) throw tooDear(address, nativeCurrency.symbol)
      const attempt = await orTimeout(signAttempt(entry, fees), signal, timedOutBeforeSigning)
      const raised = async (): Promise<readonly Change[]> => {
        const before = await recorder.read(key)
        if (!before || before.landed || isFinal(before)) throw await conflict({ is: 'past', nonce, next: lane.nextNonce() })
        return [{ before, after: { ...before, attempts: [...before.attempts, attempt], feesGiven: before.feesGiven || feesGiven } }]
      }
      const answer = keyed && { claim: keyed.claim, ...keyed.answerOf({ txHash: attempt.id, nonce }) }
      const changes = async () => ({ own: await raised() })
      const kept = await persistSigned(
        recorder,
        { changes, instead: (before) => ({ ...before }), guard, answer, kept: keyed?.onRecorded, requestId },
        closing,
        log,
      )
      if (kept.is === 'kept') occupy(held, kept.entries)
      return { held, slot, kept }
    } catch (error) {
      lane.release([slot])
      throw error
    }
  }

  async function settle(held: LeasedQueue, slot: Json, { outcome, cause }: PersistResult & { is: 'unknown' }): Promise<readonly Entry[]> {
    const entries = await outcome
    if (!entries) {
      held.queue.release([slot])
      throw cause
    }
    occupy(held, entries)
    wake()
    return entries
  }

  function occupy({ queue: lane }: LeasedQueue, entries: readonly Entry[]): void {
    for (const entry of entries) restoreSigned(entry, lane, rail)
  }
}

const tooDear = (address: string, symbol: string) =>
  new SluiceError(
    'OUT_OF_GAS',
    `${address} does not hold the ${symbol} that it would cost at most with higher fees, so nothing more was signed: fund it, or wait.`,
  )

interface SpeedUpParts {
  site: TransactionTarget
  recorder: Recorder
  raise: (wanted: RaiseRequest, signal: AbortSignal) => Promise<{ txHash: string; nonce: number }>
}

/** A caller's wish to have a transaction mined sooner: the one on a nonce, or the lowest pending one. */
export function createSpeedUp({ site, recorder, raise }: SpeedUpParts) {
  const { rail } = site.impl

  async function pick(nonce: number | undefined, { queue: lane }: LeasedQueue, signal: AbortSignal): Promise<Entry> {
    await syncQueue(rail, lane, signal)
    const key = nonce === undefined ? undefined : lane.pendingOn(nonce)?.key
    const [lowest] = nonce === undefined ? await pendingEntries(lane, { recorder, site }) : []
    const entry = key === undefined ? lowest : await recorder.read(key)
    if (entry) return entry
    throw await nothingPendingError(lane, nonce, 'speed up', { recorder, site })
  }

  return async function speedUp(
    { address, requestId, keyed, nonce, feeOverrides: wish }: Origin,
    signal: AbortSignal,
  ): Promise<{ txHash: string; nonce: number }> {
    const replace = replaceOf(rail, site.chain)
    const head = await orTimeout(site.impl.head({ signal }), signal, timedOutBeforeSigning)
    const feesGiven = setsFees(wish)
    return raise(
      {
        address,
        requestId,
        keyed,
        feesGiven,
        pick: (held) => pick(nonce, held, signal),
        feesOver(over) {
          const fees = replace.bump(over, head, feesGiven ? wish : undefined)
          if (fees) return fees
          throw new SluiceError(
            'TRANSACTION_GAS_PRICE_TOO_LOW',
            `To replace it ${replace.least(over)} would have to be offered, which is above the network's feeCap: wait, or raise feeCap in its settings.`,
          )
        },
      },
      signal,
    )
  }
}

export interface CancelParts {
  site: TransactionTarget
  lanes: LeasedQueues
  recorder: Recorder
  submit: (order: RoutedRequest, manner: ReplaceOptions, signal: AbortSignal) => Promise<SubmitResult>
}

export interface CancelRequest extends Origin {
  /** Key of the one entry that is meant: nothing else that may be on its nonce by then. */
  only?: string
}

/** Replaces what is on a nonce by a transfer of nothing to oneself; without a nonce the lowest pending one. */
export function createCancel({ site, lanes, recorder, submit }: CancelParts) {
  const { rail } = site.impl

  /** What was not cancelled yet comes first, so that asking again cancels the next one. */
  async function nonceOf(nonce: number | undefined, lane: NonceQueue): Promise<number> {
    if (nonce === undefined) {
      const [lowest] = (await pendingEntries(lane, { recorder, site })).toSorted(
        (a, b) => Number(a.kind === 'cancel') - Number(b.kind === 'cancel'),
      )
      if (lowest) return lowest.nonce
    } else {
      // Where nothing is ours another program's may be, or it is mined: what comes next tells.
      const mayBeThere = lane.pendingOn(nonce) !== undefined || lane.statusOf({ nonce }) !== 'free'
      if (mayBeThere) return nonce
    }
    throw await nothingPendingError(lane, nonce, 'cancel', { recorder, site })
  }

  return async function cancel({ only, ...origin }: CancelRequest, signal: AbortSignal): Promise<{ txHash: string; nonce: number }> {
    const { address } = origin
    const nonce = await lanes.use(address, signal, async ({ queue: lane }) => {
      await syncQueue(rail, lane, signal)
      return nonceOf(origin.nonce, lane)
    })
    return submitEmpty(
      { ...origin, nonce, signer: address },
      'cancel',
      { replaces: true, ...(only !== undefined && { only }) },
      { site, submit },
      signal,
    )
  }
}

/** A transfer of nothing to oneself, on a nonce. */
export async function submitEmpty(
  origin: Origin & { nonce: number; signer: string },
  kind: 'cancel' | 'fill',
  manner: ReplaceOptions,
  { site, submit }: Pick<CancelParts, 'site' | 'submit'>,
  signal: AbortSignal,
): Promise<{ txHash: string; nonce: number }> {
  const { signer } = origin
  const answer = ({ txHash, nonce }: SubmitResult) => ({ txHash, nonce })
  const order = { ...origin, plan: planOf(site, signer), scope: { contracts: [signer], valueRaw: 0n }, kind, answer }
  return answer(await submit(order, manner, signal))
}

function planOf({ chain, impl: { rail } }: TransactionTarget, signer: string): RoutedRequest['plan'] {
  return { steps: [replaceOf(rail, chain).cancel(signer)], needs: [], memo: null }
}

/** @throws SluiceError UNSUPPORTED where nothing that was signed can be replaced */
export function replaceOf({ replace }: Rail, chain: string): NonNullable<Rail['replace']> {
  if (replace) return replace
  throw new SluiceError('UNSUPPORTED', `${chain} cannot replace a transaction once it was sent.`)
}

interface Parts {
  recorder: Recorder
  site: TransactionTarget
}

/** What of a wallet waits to be mined and nothing is to replace, lowest nonce first. The lane must be ours, and in sync with the chain. */
async function pendingEntries(lane: NonceQueue, { recorder, site: { chain, network, connector } }: Parts): Promise<readonly Entry[]> {
  const unfinished = await recorder.unfinished({ chain, network, connector, address: lane.address })
  return unfinished
    .filter(({ attempts, landed, replacedBy }) => attempts.length > 0 && !landed && replacedBy === undefined)
    .filter(({ slot }) => lane.statusOf({ slot }) !== 'past')
    .toSorted((a, b) => a.nonce - b.nonce)
}

/** Why nothing of ours is pending, there or anywhere: what is being signed will be in a moment, what was mined is not any more. */
async function nothingPendingError(
  lane: NonceQueue,
  nonce: number | undefined,
  toDo: string,
  { recorder, site }: Parts,
): Promise<SluiceError> {
  const { address } = lane
  const conflict = (found: Pick<Parameters<typeof nonceConflictError>[0], 'is' | 'nonce' | 'requestId'>) =>
    nonceConflictError({ next: lane.nextNonce(), ...found }, { recorder, site, address })
  const signing = lane.signingOn(nonce)
  if (signing) return conflict({ is: 'claimed', ...signing })
  if (nonce !== undefined && lane.statusOf({ nonce }) === 'past') return conflict({ is: 'past', nonce })
  const what =
    nonce === undefined ? `${address} has no pending transaction in the journal` : `Nothing of ${address} is pending on nonce ${nonce}`
  return new SluiceError('UNKNOWN_TRANSACTION', `${what}: there is nothing to ${toDo}.`)
}
