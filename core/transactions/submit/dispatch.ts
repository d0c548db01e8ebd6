import type { Log, Reception } from '../../contracts/index.ts'
import type { Attempt, Entry } from '../entry.ts'
import type { Guard } from '../journal/journal.ts'
import type { Site } from '../order.ts'
import type { Recorder } from '../journal/recorder.ts'
import { Superseded } from '../journal/superseded.ts'

/** Longer than any node may take; who waits has a shorter one. */
const sendTimeoutMs = 30_000

/** Sends journaled bytes and notes what the network said. Never rejects: whatever happens, the watcher stays on it. */
export type Dispatch = (entry: Entry, attempt: Attempt, guard: Guard) => Promise<void>

export function createDispatch(site: Site, recorder: Recorder, closing: AbortSignal, log: Log, nowMs: () => number): Dispatch {
  const underWay = new Set<string>()
  return async (entry, { id, raw }, guard) => {
    const { address, nonce } = entry
    // The watcher may find it unseen while it is on its way.
    if (underWay.has(id)) return
    underWay.add(id)
    try {
      const signal = AbortSignal.any([closing, AbortSignal.timeout(sendTimeoutMs)])
      const reception = await site.impl.rail.send({ id, raw }, { signal })
      const reason = reception.is === 'accepted' ? undefined : reception.reason
      if (reason !== undefined)
        log.warn({ txHash: id, address, nonce, reception: reception.is, reason }, 'the nodes did not take a transaction')
      await recorder.amend(entry, (now) => received(now, id, reception, nowMs()), guard)
    } catch (error) {
      // The lane's new owner sends what it finds and notes it.
      if (error instanceof Superseded) return
      log.warn(
        { txHash: id, reason: error instanceof Error ? error.message : 'unknown' },
        'what became of sending a transaction could not be noted',
      )
    } finally {
      underWay.delete(id)
    }
  }
}

function received(entry: Entry, id: string, reception: Reception, nowMs: number): Entry {
  const { reason, meaning: refused } = reception.is === 'accepted' ? {} : reception
  const attempts = entry.attempts.map((each) => (each.id === id ? { ...sentAgain(each, nowMs), refused } : each))
  const waits = entry.state === 'SIGNED' || entry.state === 'BROADCAST'
  if (!waits) return { ...entry, attempts }
  // Why it is to be replaced matters more than what nodes say of it.
  const said = entry.replacedBy === undefined ? { reason } : {}
  // Its fees were checked a moment ago; the next look tells how it really stands.
  if (reason === undefined) return { ...entry, ...said, attempts, state: 'BROADCAST', seen: entry.seen ?? 'pays' }
  return { ...entry, ...said, attempts }
}

function sentAgain(attempt: Attempt, nowMs: number): Attempt {
  const { sends, sendsSinceLost } = attempt
  const sent = { ...attempt, sentAt: nowMs, sends: sends + 1 }
  return sendsSinceLost === undefined ? sent : { ...sent, sendsSinceLost: sendsSinceLost + 1 }
}
