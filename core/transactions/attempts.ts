import { pause, withDeadline } from '../base/async.ts'
import type { Json, Log, Rail, BroadcastResult, Sent } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { isFinal, signerOf, txHashOf, type Attempt, type Entry } from './entry.ts'
import type { AttemptTimes } from './lifecycle.ts'
import { maxWriteTries, OwnershipLostError, type Change, type Lease, type RecordedAnswer, type Recorder } from './journal/journal.ts'
import { effectOf } from './stops.ts'
import { persistTimedOut, pluginDefect, type ImmediateResult, type Sign, type TransactionTarget } from './submit-request.ts'
import { reasonOf } from '../base/errors.ts'

/** Longer than any node takes. Requests have a shorter deadline. */
const sendTimeoutMs = 30_000
const maxPauseMs = 2_000

/** Signs an entry's step with its sequence, at these fees. Sends nothing. */
export type SignAttempt = (entry: Entry, fees: Json) => Promise<Attempt>

export function createSignAttempt(target: TransactionTarget, sign: Sign, times: AttemptTimes, nowMs: () => number): SignAttempt {
  const { connector, impl } = target
  const { rail } = impl
  return async (entry, fees) => {
    const { chain, network, sequence, step, plugin } = entry
    const address = signerOf(entry)
    const signable = rail.draft({ step, fees }, sequence)
    // An exchange's own rail signs actions only. Transactions of the chain go through the chain's queues and checks.
    if (connector !== undefined && signable.scheme !== 'typed-data')
      throw pluginDefect(`The connector ${connector}`, 'would have a transaction signed as an action')
    const replaces = entry.attempts.at(-1)?.raw
    const asked = {
      chain,
      network,
      address,
      signable,
      effect: effectOf(entry),
      ...(plugin !== undefined && { plugin }),
      ...(replaces && { replaces }),
    }
    const newAccounts = (signable.signers ?? []).map((each) => entry.newAccounts?.[each] ?? notNew(each))
    const further = { ...asked, ...(newAccounts.length > 0 && { newAccounts }) }
    const signature = await sign(further)
    const others: Uint8Array[] = []
    for (const signsAs of newAccounts.keys()) others.push(await sign({ ...further, signsAs }))
    const { id, raw } = rail.seal(signable, signature, others)
    times.signed(id)
    return { id, raw, fees, signedAt: nowMs(), sends: 0 }
  }
}

function notNew(address: string): never {
  throw pluginDefect('The plan', `has the signer ${address}, which is none of the new accounts that were made for it`)
}

/** Signed bytes on their way into the journal. */
export interface SignedChanges {
  /**
   * The entries that get the bytes, and others that change with them. Called again if they were written in between; a throw ends the
   * attempt.
   */
  changes: () => Promise<{ own: readonly Change[]; beside?: readonly Change[] }>
  /** What an entry becomes if its bytes are certain not to be stored. Always a new version. */
  instead: (before: Entry) => Entry
  lease: Lease
  answer?: RecordedAnswer
  /** Called once the bytes and the answer are certain to be stored. */
  onRecorded?: () => void
  requestId: string
}

/** The bytes are in the journal, or it is unknown until `outcome` settles. Until then nothing may be sent. */
export type PersistResult =
  | { is: 'persisted'; entries: readonly Entry[] }
  | { is: 'unknown'; cause: unknown; outcome: Promise<readonly Entry[] | undefined> }

/**
 * Writes signed bytes to the journal, together with the answer to their request.
 * @throws an error that means that nothing was stored and nothing will be
 */
export async function persistSigned(recorder: Recorder, signed: SignedChanges, closing: AbortSignal, log: Log): Promise<PersistResult> {
  for (let tries = 0; tries < maxWriteTries; tries += 1) {
    const { own, beside = [] } = await signed.changes()
    try {
      const written = await recorder.write([...own, ...beside], signed.lease, signed.answer)
      if (written) {
        signed.onRecorded?.()
        return { is: 'persisted', entries: written.slice(0, own.length) }
      }
    } catch (error) {
      // Any other error may have come before the commit or after it.
      if (error instanceof OwnershipLostError || (error instanceof StoreUnavailable && !error.uncertain)) throw error
      return { is: 'unknown', cause: error, outcome: findOutcome(recorder, own, signed, closing, log) }
    }
  }
  throw new OwnershipLostError('Other writers changed the same transactions again and again.')
}

/**
 * Finds out whether a write with an unknown commit was stored: the entries then, or undefined if it was not and never will be. The write was
 * atomic and for one version of each entry, so once another write has made that version, it can no longer be stored.
 */
async function findOutcome(
  recorder: Recorder,
  own: readonly Change[],
  { instead, lease, onRecorded, requestId }: SignedChanges,
  closing: AbortSignal,
  log: Log,
): Promise<readonly Entry[] | undefined> {
  log.warn(
    { requestId, txHashes: own.map(({ after }) => txHashOf(after)) },
    'commit of signed transactions unconfirmed by the store: reading it back',
  )
  let hasNewOwner = false
  let lastReason: string | undefined
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      const stored = await Promise.all(own.map(({ before }) => recorder.read(before.key)))
      if (own.every(({ after }, index) => hasAttemptOf(after, stored[index]))) {
        onRecorded?.()
        return stored.flatMap((entry) => entry ?? [])
      }
      // After a change of owner our lease cannot store anything any more.
      if (hasNewOwner || own.some(({ before }, index) => stored[index]?.version !== before.version)) return undefined
      if (
        await recorder.write(
          own.map(({ before }) => ({ before, after: instead(before) })),
          lease,
        )
      )
        return undefined
    } catch (error) {
      if (error instanceof OwnershipLostError) hasNewOwner = true
      // An unexpected error does not tell whether it was stored. Giving up here would block the nonce for ever.
      else if (!(error instanceof StoreUnavailable)) {
        const reason = reasonOf(error)
        if (reason !== lastReason) log.warn({ requestId, reason }, 'commit of signed transactions still unconfirmed')
        lastReason = reason
      }
    }
    await pause(pauseMs, closing)
    if (closing.aborted) throw persistTimedOut(requestId)
  }
}

function hasAttemptOf({ attempts }: Entry, stored: Entry | undefined): boolean {
  const id = attempts.at(-1)?.id
  return stored !== undefined && stored.attempts.some((each) => each.id === id)
}

/**
 * Sends journaled bytes and records the network's answer. Never rejects, because the watcher follows the entry in any case. Returns the
 * result where an exchange gives it at once.
 */
export type Broadcast = (entry: Entry, attempt: Attempt, lease: Lease) => Promise<ImmediateResult | undefined>

export interface BroadcastParts {
  target: TransactionTarget
  recorder: Recorder
  /** Called for an entry that became final by the network's answer. */
  onFinal: (entry: Entry) => void
  closing: AbortSignal
  log: Log
  times: AttemptTimes
  nowMs: () => number
}

export function createBroadcast({ target, recorder, onFinal, closing, log, times, nowMs }: BroadcastParts): Broadcast {
  const sending = new Set<string>()
  return async (entry, { id, raw }, lease) => {
    const { address, nonce, privateOnly } = entry
    const { rail } = target.impl
    // While it is being sent, no node has it yet, and the watcher may ask to send it again.
    if (sending.has(id)) return undefined
    sending.add(id)
    try {
      const sent = { id, raw, ...(privateOnly && { privateOnly }) }
      const result = await withDeadline(closing, sendTimeoutMs, (signal) => sendOn(rail, sent, signal))
      times.sent(id)
      if (result.is !== 'accepted')
        log.warn({ txHash: id, address, nonce, reception: result.is, reason: result.reason }, 'no node accepted a transaction')
      const stored = await recorder.amend(entry, (current) => withBroadcastResult(current, id, result, nowMs()), lease)
      if (isFinal(stored)) onFinal(stored)
      return result.is === 'accepted' ? result.landed : undefined
    } catch (error) {
      // The queue's new owner sends the bytes again and records the result.
      if (error instanceof OwnershipLostError) return undefined
      log.warn({ txHash: id, reason: reasonOf(error) }, 'broadcast result not persisted')
      return undefined
    } finally {
      sending.delete(id)
    }
  }
}

/** The relays of a private one may have left the settings since it was signed: no node gets it then. */
const sendOn = async (rail: Rail, sent: Sent, signal: AbortSignal): Promise<BroadcastResult> =>
  sent.privateOnly && !rail.sendsPrivately
    ? { is: 'unclear', reason: 'it goes to private relays only, and the network has none now: set privateUrls in conf/chains' }
    : rail.send(sent, { signal })

function withBroadcastResult(entry: Entry, id: string, result: BroadcastResult, nowMs: number): Entry {
  const { reason, meaning: refused } = result.is === 'accepted' ? {} : result
  const accepted = result.is === 'accepted' && result.node !== undefined ? { node: result.node } : {}
  const attempts = entry.attempts.map((each) => (each.id === id ? { ...withSend(each, nowMs), refused, ...accepted } : each))
  if (result.is === 'accepted' && result.landed && !isFinal(entry)) return withImmediateResult({ ...entry, attempts }, id, result.landed)
  if (entry.state !== 'SIGNED' && entry.state !== 'BROADCAST') return { ...entry, attempts }
  // If it is being replaced, `reason` says why. An error of a node does not overwrite that.
  const next = { ...entry, ...(entry.replacedBy === undefined && { reason }), attempts }
  // Its fees were checked a moment ago, so 'pays' is likely. The next poll observes it.
  return reason === undefined ? { ...next, state: 'BROADCAST', seen: entry.seen ?? 'pays' } : next
}

/** Final at once: no block and no other transaction can take it back. */
function withImmediateResult(entry: Entry, id: string, { ok, receipt, reason }: ImmediateResult): Entry {
  return {
    ...entry,
    landed: { id, ok, blockNumber: -1, receipt },
    state: ok ? 'CONFIRMED' : 'REVERTED',
    reason: ok ? undefined : reason,
    replacedBy: undefined,
  }
}

function withSend(attempt: Attempt, nowMs: number): Attempt {
  const { sends, sendsSinceLost } = attempt
  return { ...attempt, sentAt: nowMs, sends: sends + 1, ...(sendsSinceLost !== undefined && { sendsSinceLost: sendsSinceLost + 1 }) }
}
