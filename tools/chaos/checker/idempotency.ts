import { groupBy, type IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

/** I3: the same request with the same key, any number of times: at most one effect, one answer. */
export function idempotency(known: IndexedHistory): Violation[] {
  const keyed = known.requests.filter(({ key }) => key !== undefined)
  const entries = groupBy(known.journal, ({ idempotencyKey }) => idempotencyKey)
  const together = groupBy(keyed, ({ key }) => key)
  return keyed.flatMap((request) => {
    const calls = known.callsOf(request)
    const answers = new Set(calls.flatMap(({ outcome }) => (outcome.is === 'answer' && outcome.txHash !== undefined ? [outcome.text] : [])))
    const signed = (entries.get(request.key) ?? []).filter(({ attempts }) => attempts.length > 0)
    // What only takes the place of an order that waits does nothing by itself: where the order was first after all, it is cancelled by another.
    const acting = known.signedOf(request).filter(({ call }) => request.op !== 'cancel-order' || call !== undefined)
    const nonces = new Set(acting.map(({ nonce }) => nonce))
    const evidence = { request, calls, entries: signed }
    const found: Violation[] = []
    if (answers.size > 1) found.push(violation('one key got different answers', { ...evidence, answers: [...answers] }))
    // Each of a batch has its own.
    const most = request.inBatch ? (together.get(request.key)?.length ?? 1) : 1
    if (signed.length > most) found.push(violation('one key made several transactions', evidence))
    if (nonces.size > 1) found.push(violation('one key was signed on several nonces', { ...evidence, signed: known.signedOf(request) }))
    return found
  })
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I3', what, evidence })
