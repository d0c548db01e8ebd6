import type { Log, Reception } from '../../contracts/index.ts'
import { withDeadline } from '../../contracts/with-deadline.ts'
import { isFinal } from '../entry.ts'
import type { Attempt, Entry } from '../entry.ts'
import type { Guard } from '../journal/journal.ts'
import type { LandedAtOnce, Site } from '../submit-request.ts'
import type { Recorder } from '../journal/recorder.ts'
import { Superseded } from '../journal/superseded.ts'

/** Longer than any node may take; who waits has a shorter one. */
const sendTimeoutMs = 30_000

/**
 * Sends journaled bytes and notes what the network said. Never rejects: whatever happens, the watcher stays on it. Gives what came of it,
 * where an exchange said that at once.
 */
export type Dispatch = (entry: Entry, attempt: Attempt, guard: Guard) => Promise<LandedAtOnce | undefined>

export interface DispatchParts {
  site: Site
  recorder: Recorder
  /** Told of an entry that ended by what the network said. */
  ended: (entry: Entry) => void
  closing: AbortSignal
  log: Log
  nowMs: () => number
}

export function createDispatch({ site, recorder, ended, closing, log, nowMs }: DispatchParts): Dispatch {
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
      const kept = await recorder.amend(entry, (now) => received(now, id, reception, nowMs()), guard)
      if (isFinal(kept)) ended(kept)
      return reception.is === 'accepted' ? reception.landed : undefined
    } catch (error) {
      // The lane's new owner sends what it finds and notes it.
      if (error instanceof Superseded) return undefined
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

function received(entry: Entry, id: string, reception: Reception, nowMs: number): Entry {
  const { reason, meaning: refused } = reception.is === 'accepted' ? {} : reception
  const attempts = entry.attempts.map((each) => (each.id === id ? { ...sentAgain(each, nowMs), refused } : each))
  if (reception.is === 'accepted' && reception.landed && !isFinal(entry)) return landedAtOnce({ ...entry, attempts }, id, reception.landed)
  const waits = entry.state === 'SIGNED' || entry.state === 'BROADCAST'
  if (!waits) return { ...entry, attempts }
  // Why it is to be replaced matters more than what nodes say of it.
  const said = entry.replacedBy === undefined ? { reason } : {}
  // Its fees were checked a moment ago; the next look tells how it really stands.
  if (reason === undefined) return { ...entry, ...said, attempts, state: 'BROADCAST', seen: entry.seen ?? 'pays' }
  return { ...entry, ...said, attempts }
}

/** There is nothing that could take it back: neither a block nor another on its slot. */
function landedAtOnce(entry: Entry, id: string, { ok, receipt, reason }: LandedAtOnce): Entry {
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
