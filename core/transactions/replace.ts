import { SluiceError } from '../contracts/index.ts'
import type { Json, Log } from '../contracts/index.ts'
import type { Dispatch } from './submit/dispatch.ts'
import { isFinal } from './entry.ts'
import type { Entry } from './entry.ts'
import { keepSigned } from './attempts.ts'
import type { Kept } from './attempts.ts'
import type { HeldLane, Lanes } from './leased-queues.ts'
import { nonceConflict } from './lanes/nonce-conflict.ts'
import type { Keyed, Site } from './submit-request.ts'
import { hold, occupantOf } from './lanes/rebuild-lane.ts'
import type { Change, Recorder } from './journal/recorder.ts'
import type { SignAttempt } from './submit/sign-attempt.ts'
import { nothingSent, orTimeout, outcomeUnknown, stillUnderWay } from './submit/timeout.ts'

export interface RaiseParts {
  site: Site
  lanes: Lanes
  recorder: Recorder
  signAttempt: SignAttempt
  dispatch: Dispatch
  wake: () => void
  /** Goes on whatever becomes of the request. */
  goOn: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
}

/** Another attempt that is wanted. */
export interface Wanted {
  /** Of the lane. */
  address: string
  requestId: string
  keyed?: Keyed
  /** The caller says what it pays: nothing raises that afterwards. */
  feesGiven: boolean
  /** Which entry, once the lane is ours. */
  pick: (held: HeldLane) => Promise<Entry>
  /** Of what is to be outbid. */
  feesOver: (fees: Json) => Json
}

/** Signs the same step again on the same slot, at higher fees: one more attempt of the same entry. At most one of them is mined. */
export function createRaise({ site, lanes, recorder, signAttempt, dispatch, wake, goOn, closing, log }: RaiseParts) {
  const { impl } = site
  const { rail, nativeCurrency } = impl

  return async function raise(wanted: Wanted, signal: AbortSignal): Promise<{ txHash: string; nonce: number }> {
    const { address, requestId } = wanted
    const [holdsRaw = 0n] = await orTimeout(impl.balances(address, [nativeCurrency], { signal }), signal, nothingSent)
    const { held, slot, kept } = await lanes.use(address, signal, (ours) => make(wanted, ours, holdsRaw, signal))
    const [entry] =
      kept.is === 'kept' ? kept.entries : await orTimeout(goOn(settle(held, slot, kept)), signal, () => outcomeUnknown(requestId))
    const attempt = entry?.attempts.at(-1)
    if (!entry || !attempt) throw new Error('An attempt was kept that is not there.')
    wake()
    await orTimeout(goOn(dispatch(entry, attempt, held.guard)), signal, () => stillUnderWay(attempt.id, requestId))
    return { txHash: attempt.id, nonce: entry.nonce }
  }

  /** What it throws says that no further attempt was kept and none will be. */
  async function make({ requestId, keyed, feesGiven, pick, feesOver }: Wanted, held: HeldLane, holdsRaw: bigint, signal: AbortSignal) {
    const { lane, guard } = held
    const entry = await pick(held)
    const { key, slot, step, nonce } = entry
    const { address } = lane
    const conflict = (claimed: Parameters<typeof nonceConflict>[0]) => nonceConflict(claimed, { recorder, site, address })
    const fees = feesOver(occupantOf(entry, rail).fees)
    const costRaw = rail.cost(step, fees)
    const claimed = lane.claim({ requestId, count: 1, nonce, given: false, fees: [fees], costsRaw: [costRaw], mayReplace: true, only: key })
    if ('conflict' in claimed) throw await conflict(claimed.conflict)
    try {
      // No node would take it, and it would keep coins from others.
      if (costRaw > holdsRaw) throw tooDear(address, nativeCurrency.symbol)
      const attempt = await orTimeout(signAttempt(entry, fees), signal, nothingSent)
      const raised = async (): Promise<readonly Change[]> => {
        const before = await recorder.read(key)
        if (!before || before.landed || isFinal(before)) throw await conflict({ is: 'past', nonce, next: lane.next() })
        return [{ before, after: { ...before, attempts: [...before.attempts, attempt], feesGiven: before.feesGiven || feesGiven } }]
      }
      const answer = keyed && { claim: keyed.claim, ...keyed.answerOf({ txHash: attempt.id, nonce }) }
      const changes = async () => ({ own: await raised() })
      const kept = await keepSigned(
        recorder,
        { changes, instead: (before) => ({ ...before }), guard, answer, kept: keyed?.kept, requestId },
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

  async function settle(held: HeldLane, slot: Json, { outcome, cause }: Kept & { is: 'unknown' }): Promise<readonly Entry[]> {
    const entries = await outcome
    if (!entries) {
      held.lane.release([slot])
      throw cause
    }
    occupy(held, entries)
    wake()
    return entries
  }

  function occupy({ lane }: HeldLane, entries: readonly Entry[]): void {
    for (const entry of entries) hold(entry, lane, rail)
  }
}

const tooDear = (address: string, symbol: string) =>
  new SluiceError(
    'OUT_OF_GAS',
    `${address} does not hold the ${symbol} that it would cost at most with higher fees, so nothing more was signed: fund it, or wait.`,
  )
