import type { MinedTransaction, Request } from '../history.ts'
import type { IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

const failures: ReadonlySet<string> = new Set(['REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** What these answer is another request's transaction, and what these entries do is nobody's trade. */
const meddling: ReadonlySet<string> = new Set(['cancel', 'speedUp', 'fill'])

/** I1: a trade request has exactly one effect on chain, or a definite failure with none. */
export function oneEffect(known: IndexedHistory): Violation[] {
  return [...known.requests.flatMap((request) => ofRequest(request, known)), ...ofChain(known), ...ofJournal(known)]
}

function ofRequest(request: Request, known: IndexedHistory): Violation[] {
  const mined = known.minedOf(request)
  const answered = known.callsOf(request).flatMap(({ outcome }) => (outcome.is === 'answer' ? (outcome.txHash ?? []) : []))
  const evidence = { request, mined, answered }
  if (mined.length > 1) return [violation('one request was mined more than once', evidence)]
  if (answered.length === 0) return mined.flatMap((each) => hidden(request, each, known))
  const unknown = answered.find((txHash) => !known.entryOf(txHash))
  if (unknown !== undefined) return [violation('an answer had a transaction that is not in the journal', { ...evidence, unknown })]
  const own = new Set(known.signedOf(request).map(({ txHash }) => txHash))
  const foreign = !meddling.has(request.op) ? answered.find((txHash) => !own.has(txHash)) : undefined
  if (foreign !== undefined) return [violation("an answer had another request's transaction", { ...evidence, foreign })]
  return []
}

/** A bot that was told nothing finds out by its key, or by the id of its request. */
function hidden(request: Request, { txHash }: MinedTransaction, known: IndexedHistory): Violation[] {
  const entry = known.entryOf(txHash)
  const found =
    entry === undefined ||
    (request.key !== undefined && entry.idempotencyKey === request.key) ||
    known.callsOf(request).some(({ requestId }) => requestId === entry.requestId)
  return found ? [] : [violation('a bot that got no answer cannot find its transaction by its request', { request, entry })]
}

/** Whatever the wallets did on the chain, somebody asked for it and the journal has it. */
function ofChain(known: IndexedHistory): Violation[] {
  const asked = new Set(known.requests.flatMap(({ valueRaw }) => valueRaw ?? []))
  return known.mined.flatMap((each) => {
    if (known.foreign.has(each.txHash)) return []
    const entry = known.entryOf(each.txHash)
    if (!entry) return [violation('a transaction was mined that is not in the journal', { mined: each })]
    // What shows no amount is of whom the journal says.
    const request = known.requestOf(entry)
    const isAsked = each.valueRaw > 0n ? asked.has(each.valueRaw) : request !== undefined && request.valueRaw === undefined
    if (!meddling.has(entry.kind) && !isAsked) return [violation('a trade was mined that nobody asked for', { mined: each, entry })]
    return []
  })
}

/** What the journal says of the end is what the chain says. */
function ofJournal(known: IndexedHistory): Violation[] {
  return known.journal.flatMap((entry) => {
    const mined = entry.attempts.flatMap(({ txHash }) => known.minedBy(txHash) ?? [])
    const effect = mined.some(({ ok }) => ok)
    const evidence = { entry, mined }
    if (mined.length > 1) return [violation('two attempts of one entry were mined', evidence)]
    if (entry.state === 'CONFIRMED' && !effect) return [violation('the journal says CONFIRMED and the chain shows no effect', evidence)]
    if (failures.has(entry.state) && effect) return [violation(`the journal says ${entry.state} and the chain shows the effect`, evidence)]
    if (entry.state === 'REVERTED' && mined.length === 0)
      return [violation('the journal says REVERTED and the chain has no such transaction', evidence)]
    return []
  })
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I1', what, evidence })
