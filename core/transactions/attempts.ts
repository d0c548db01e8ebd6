import { pause, withDeadline } from '../async.ts'
import { type Log, SluiceError, type Json, type Reception } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { txHashOf, type Entry, signerOf, type Attempt, isFinal } from './entry.ts'
import { type Lease, type RecordedAnswer, type Change, type Recorder, OwnershipLost } from './journal/journal.ts'
import { persistTimedOut, type Sign, type TransactionTarget, type ImmediateResult } from './submit-request.ts'

const longestPauseMs = 2_000
/** Every write of one entry in a row is won by somebody, so this many losses are a defect. */
const maxTries = 100

/** Signed bytes that are to be journaled. */
interface SignedChanges {
  /** What gets them, and what else changes with it: as it is now. Asked again where somebody wrote in between; a throw gives it up. */
  changes: () => Promise<{ own: readonly Change[]; beside?: readonly Change[] }>
  /** What an entry becomes when its bytes are certain not to be kept; another version in any case. */
  instead: (before: Entry) => Entry
  guard: Lease
  answer?: RecordedAnswer
  /** Told once they are certain to be there, and the answer with them. */
  kept?: () => void
  requestId: string
}

/** The bytes are in the journal; or only `outcome` will tell whether they are, and until then nothing may leave. */
export type PersistResult =
  | { is: 'kept'; entries: readonly Entry[] }
  | { is: 'unknown'; cause: unknown; outcome: Promise<readonly Entry[] | undefined> }

/**
 * Journals signed bytes, and with them the answer that their request is given.
 * @throws what says that nothing was kept and nothing will be
 */
export async function persistSigned(recorder: Recorder, signed: SignedChanges, closing: AbortSignal, log: Log): Promise<PersistResult> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { own, beside = [] } = await signed.changes()
    try {
      const written = await recorder.write([...own, ...beside], signed.guard, signed.answer)
      if (written) {
        signed.kept?.()
        return { is: 'kept', entries: written.slice(0, own.length) }
      }
    } catch (error) {
      if (saysNothingWasKept(error)) throw error
      return { is: 'unknown', cause: error, outcome: findOut(recorder, own, signed, closing, log) }
    }
  }
  throw new OwnershipLost('Others wrote the same transactions all the time.')
}

/** What nobody expects may have come after the commit as well as before. */
const saysNothingWasKept = (error: unknown) => error instanceof OwnershipLost || (error instanceof StoreUnavailable && !error.uncertain)

/**
 * Whether a write was kept whose commit nobody heard of: the entries as they are then, or undefined where it was not and
 * cannot be any more. All of it was written or none, on one version: whoever writes the next one excludes it.
 */
async function findOut(
  recorder: Recorder,
  own: readonly Change[],
  { instead, guard, kept, requestId }: SignedChanges,
  closing: AbortSignal,
  log: Log,
): Promise<readonly Entry[] | undefined> {
  log.warn(
    { requestId, txHashes: own.map(({ after }) => txHashOf(after)) },
    'the store did not say whether signed transactions were kept: finding out',
  )
  let hasNewOwner = false
  let told: string | undefined
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const now = await Promise.all(own.map(({ before }) => recorder.read(before.key)))
      if (own.every(({ after }, index) => hasAttemptOf(after, now[index]))) {
        kept?.()
        return now.flatMap((entry) => entry ?? [])
      }
      // The guard of a lane's former owner holds for nothing that is not kept yet.
      if (hasNewOwner || own.some(({ before }, index) => now[index]?.version !== before.version)) return undefined
      const given = own.map(({ before }) => ({ before, after: instead(before) }))
      if (await recorder.write(given, guard)) return undefined
    } catch (error) {
      if (error instanceof OwnershipLost) hasNewOwner = true
      // What nobody expects tells as little, and whoever gave up here would leave the slot held for ever.
      else if (!(error instanceof StoreUnavailable)) {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (reason !== told) log.warn({ requestId, reason }, 'whether signed transactions were kept could not be found out yet')
        told = reason
      }
    }
    await pause(pauseMs, closing)
    if (closing.aborted) throw persistTimedOut(requestId)
  }
}

function hasAttemptOf({ attempts }: Entry, kept: Entry | undefined): boolean {
  const id = attempts.at(-1)?.id
  return kept !== undefined && kept.attempts.some((each) => each.id === id)
}

/** Signs an entry's step on its slot, at these fees. Nothing leaves by it. */
export type SignAttempt = (entry: Entry, fees: Json) => Promise<Attempt>

/** An exchange's own rail has actions signed and nothing else: what the chain takes goes by the chain's lanes, and is judged there. */
export function createSignAttempt(
  { connector, impl: { rail } }: Pick<TransactionTarget, 'connector' | 'impl'>,
  sign: Sign,
  nowMs: () => number,
): SignAttempt {
  return async (entry, fees) => {
    const { chain, network, slot, step, admin } = entry
    const address = signerOf(entry)
    const signable = rail.draft({ step, fees }, slot)
    if (connector !== undefined && signable.scheme !== 'typed-data') throw noAction(connector)
    const { id, raw } = rail.seal(signable, await sign({ chain, network, address, signable, ...(admin && { admin }) }))
    return { id, raw, fees, signedAt: nowMs(), sends: 0 }
  }
}

const noAction = (connector: string) =>
  new SluiceError(
    'UNKNOWN_ERROR',
    `The connector ${connector} would have a transaction signed as an action: nothing was signed. This is a defect of the plugin.`,
  )

/** Longer than any node may take; who waits has a shorter one. */
const sendTimeoutMs = 30_000

/**
 * Sends journaled bytes and notes what the network said. Never rejects: whatever happens, the watcher stays on it. Gives what came of it,
 * where an exchange said that at once.
 */
export type Broadcast = (entry: Entry, attempt: Attempt, guard: Lease) => Promise<ImmediateResult | undefined>

interface BroadcastParts {
  site: TransactionTarget
  recorder: Recorder
  /** Told of an entry that ended by what the network said. */
  ended: (entry: Entry) => void
  closing: AbortSignal
  log: Log
  nowMs: () => number
}

export function createBroadcast({ site, recorder, ended, closing, log, nowMs }: BroadcastParts): Broadcast {
  const underWay = new Set<string>()
  return async (entry, { id, raw }, guard) => {
    const { address, nonce } = entry
    // The watcher may find it unseen while it is on its way.
    if (underWay.has(id)) return undefined
    underWay.add(id)
    try {
      const reception = await withDeadline(closing, sendTimeoutMs, (signal) => site.impl.rail.send({ id, raw }, { signal }))
      const reason = reception.is === 'accepted' ? undefined : reception.reason
      if (reason !== undefined)
        log.warn({ txHash: id, address, nonce, reception: reception.is, reason }, 'the nodes did not take a transaction')
      const kept = await recorder.amend(entry, (now) => withBroadcastResult(now, id, reception, nowMs()), guard)
      if (isFinal(kept)) ended(kept)
      return reception.is === 'accepted' ? reception.landed : undefined
    } catch (error) {
      // The lane's new owner sends what it finds and notes it.
      if (error instanceof OwnershipLost) return undefined
      log.warn(
        { txHash: id, reason: error instanceof Error ? error.message : 'unknown' },
        'what became of sending a transaction could not be noted',
      )
      return undefined
    } finally {
      underWay.delete(id)
    }
  }
}

function withBroadcastResult(entry: Entry, id: string, reception: Reception, nowMs: number): Entry {
  const { reason, meaning: refused } = reception.is === 'accepted' ? {} : reception
  const attempts = entry.attempts.map((each) => (each.id === id ? { ...sentAgain(each, nowMs), refused } : each))
  if (reception.is === 'accepted' && reception.landed && !isFinal(entry))
    return withImmediateResult({ ...entry, attempts }, id, reception.landed)
  const waits = entry.state === 'SIGNED' || entry.state === 'BROADCAST'
  if (!waits) return { ...entry, attempts }
  // Why it is to be replaced matters more than what nodes say of it.
  const said = entry.replacedBy === undefined ? { reason } : {}
  // Its fees were checked a moment ago; the next look tells how it really stands.
  if (reason === undefined) return { ...entry, ...said, attempts, state: 'BROADCAST', seen: entry.seen ?? 'pays' }
  return { ...entry, ...said, attempts }
}

/** There is nothing that could take it back: neither a block nor another on its slot. */
function withImmediateResult(entry: Entry, id: string, { ok, receipt, reason }: ImmediateResult): Entry {
  return {
    ...entry,
    landed: { id, ok, blockNumber: -1, receipt },
    state: ok ? 'CONFIRMED' : 'REVERTED',
    reason: ok ? undefined : reason,
    replacedBy: undefined,
  }
}

function sentAgain(attempt: Attempt, nowMs: number): Attempt {
  const { sends, sendsSinceLost } = attempt
  const sent = { ...attempt, sentAt: nowMs, sends: sends + 1 }
  return sendsSinceLost === undefined ? sent : { ...sent, sendsSinceLost: sendsSinceLost + 1 }
}
