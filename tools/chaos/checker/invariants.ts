import type { Call, Sample } from '../history.ts'
import { violation, groupBy, type IndexedHistory, type Violation } from './known.ts'

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
    if (mined.length > 0) return [violation('I2', 'an effect after a definite error', { ...evidence, mined })]
    if (signed.some(({ wasSent }) => wasSent)) return [violation('I2', 'bytes were sent after a definite error', evidence)]
    if (signed.some((each) => !known.isDead(each)))
      return [violation('I2', 'signed bytes could still be mined after a definite error', evidence)]
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
    if (answers.size > 1) found.push(violation('I3', 'one key got different answers', { ...evidence, answers: [...answers] }))
    // Each of a batch has its own.
    const most = request.inBatch ? (together.get(request.key)?.length ?? 1) : 1
    if (signed.length > most) found.push(violation('I3', 'one key made several transactions', evidence))
    if (nonces.size > 1)
      found.push(violation('I3', 'one key was signed on several nonces', { ...evidence, signed: known.signedOf(request) }))
    return found
  })
}

const lost: ReadonlySet<string> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I5: the server never says -1, or a final state, of a journaled transaction that turns out otherwise. */
export function saidOf(known: IndexedHistory): Violation[] {
  return known.samples.flatMap((sample) => {
    const entry = known.entryOf(sample.txHash)
    if (!entry) return []
    const mined = entry.attempts.flatMap(({ txHash }) => known.minedBy(txHash) ?? [])[0]
    const wrong = wrongIn(sample, mined)
    return wrong === undefined ? [] : [violation('I5', wrong, { sample, entry, mined })]
  })
}

function wrongIn({ txStatus, txState = '' }: Sample, mined: { ok: boolean } | undefined): string | undefined {
  if (txStatus === -1 && mined) return 'said -1 of a transaction that is mined'
  if (lost.has(txState) && mined) return `said ${txState} of a transaction that is mined`
  if (txState === 'CONFIRMED' && !mined?.ok) return 'said CONFIRMED of a transaction that has no effect'
  if (txState === 'REVERTED' && (!mined || mined.ok)) return 'said REVERTED of a transaction that did not revert'
  return undefined
}

const ends: ReadonlySet<string> = new Set(['CONFIRMED', 'REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I6: when faults end, everything open reaches its final state within the confirmation depth plus 5 blocks. */
export function inTime({ journal, settled, signed, isDead, minedBy }: IndexedHistory): Violation[] {
  if (settled.blocks < settled.allowed) {
    const open = journal.filter(({ state }) => !ends.has(state))
    if (open.length > 0)
      throw new Error(`The run was judged ${settled.blocks} blocks after its faults, before ${settled.allowed} had passed.`)
  }
  const open = journal.flatMap((entry) =>
    ends.has(entry.state)
      ? []
      : [violation('I6', `still ${entry.state} ${settled.blocks} blocks after the faults ended`, { entry, settled })],
  )
  const live = signed
    .filter((each) => !minedBy(each.txHash) && !isDead(each))
    .map((each) => violation('I6', 'signed bytes are not mined and still can be', { signed: each, settled }))
  return [...open, ...live]
}
