import type { Call } from '../history.ts'
import type { IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

/** With one of these nobody was told that a request came to nothing. */
const inconclusive: ReadonlySet<string> = new Set(['TIMEOUT', 'IN_FLIGHT'])
/** Of a request that is repeated these tell of the one call: the server did not look what became of the others. */
const ofTheCallOnly: ReadonlySet<string> = new Set(['OVERLOADED', 'RATE_LIMIT', 'IDEMPOTENCY_CONFLICT', 'FORBIDDEN'])

/** I2: after a definite error nothing was sent and nothing ever will be. */
export function definiteErrors(known: IndexedHistory): Violation[] {
  return known.requests.flatMap((request) => {
    const calls = known.callsOf(request)
    const error = calls.find((call) => isLastWord(call, calls))
    if (!error) return []
    const signed = known.signedOf(request)
    const evidence = { request, error, calls, signed }
    const mined = known.minedOf(request)
    if (mined.length > 0) return [violation('an effect after a definite error', { ...evidence, mined })]
    if (signed.some(({ wasSent }) => wasSent)) return [violation('bytes were sent after a definite error', evidence)]
    if (signed.some((each) => !known.isDead(each))) return [violation('signed bytes could still be mined after a definite error', evidence)]
    return []
  })
}

/** Whether it is a definite error that no other call of the request can have made untrue: those that ended before are settled by it. */
export function isLastWord(call: Call, calls: readonly Call[]): boolean {
  const { outcome } = call
  if (outcome.is === 'lost' || outcome.status < 400 || inconclusive.has(outcome.name ?? '')) return false
  const others = calls.filter((each) => each !== call)
  if (others.length > 0 && ofTheCallOnly.has(outcome.name ?? '')) return false
  return others.every(({ endedAt, outcome }) => endedAt < call.sentAt && !(outcome.is === 'answer' && outcome.status === 200))
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I2', what, evidence })
