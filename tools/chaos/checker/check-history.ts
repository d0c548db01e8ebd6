import type { History, MinedTransaction, Request } from '../history.ts'
import { definiteErrors, idempotency, inTime, saidOf } from './invariants.ts'
import { knownOf, violation, groupBy, type IndexedHistory, type Violation } from './known.ts'
import { orders } from './orders.ts'

export type Judge = (known: IndexedHistory) => Violation[]

/**
 * Compares what the bots were told, what the journal has and what the chain did. Pure.
 * @param inTurn judges of I4: chains differ in what transactions take turns on
 * @param ofRequests judges of I1 to I3: bots that send no keys are held to other rules
 */
export function checkHistory(
  history: History,
  inTurn: readonly Judge[] = [nonces],
  ofRequests: readonly Judge[] = [oneEffect, orders, definiteErrors, idempotency],
): Violation[] {
  const known = knownOf(history)
  return [...ofRequests, ...inTurn, saidOf, inTime, books].flatMap((judge) => judge(known))
}

const failures: ReadonlySet<string> = new Set(['REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** What these answer is another request's transaction, and what these entries do is nobody's trade. */
const meddling: ReadonlySet<string> = new Set(['cancel', 'speedUp', 'fill'])

/** I1: a trade request has exactly one effect on chain, or a definite failure with none. */
function oneEffect(known: IndexedHistory): Violation[] {
  return [...known.requests.flatMap((request) => ofRequest(request, known)), ...ofChain(known), ...ofJournal(known)]
}

function ofRequest(request: Request, known: IndexedHistory): Violation[] {
  const mined = known.minedOf(request)
  const answered = known.callsOf(request).flatMap(({ outcome }) => (outcome.is === 'answer' ? (outcome.txHash ?? []) : []))
  const evidence = { request, mined, answered }
  if (mined.length > 1) return [violation('I1', 'one request was mined more than once', evidence)]
  if (answered.length === 0) return mined.flatMap((each) => hidden(request, each, known))
  const unknown = answered.find((txHash) => !known.entryOf(txHash))
  if (unknown !== undefined) return [violation('I1', 'an answer had a transaction that is not in the journal', { ...evidence, unknown })]
  const own = new Set(known.signedOf(request).map(({ txHash }) => txHash))
  const foreign = !meddling.has(request.op) ? answered.find((txHash) => !own.has(txHash)) : undefined
  if (foreign !== undefined) return [violation('I1', "an answer had another request's transaction", { ...evidence, foreign })]
  return []
}

/** A bot that was told nothing finds out by its key, or by the id of its request. */
function hidden(request: Request, { txHash }: MinedTransaction, known: IndexedHistory): Violation[] {
  const entry = known.entryOf(txHash)
  const found =
    entry === undefined ||
    (request.key !== undefined && entry.idempotencyKey === request.key) ||
    known.callsOf(request).some(({ requestId }) => requestId === entry.requestId)
  return found ? [] : [violation('I1', 'a bot that got no answer cannot find its transaction by its request', { request, entry })]
}

/** Whatever the wallets did on the chain, somebody asked for it and the journal has it. */
function ofChain(known: IndexedHistory): Violation[] {
  const asked = new Set(known.requests.flatMap(({ valueRaw }) => valueRaw ?? []))
  return known.mined.flatMap((each) => {
    if (known.foreign.has(each.txHash)) return []
    const entry = known.entryOf(each.txHash)
    if (!entry) return [violation('I1', 'a transaction was mined that is not in the journal', { mined: each })]
    // What shows no amount is of whom the journal says.
    const request = known.requestOf(entry)
    const isAsked = each.valueRaw > 0n ? asked.has(each.valueRaw) : request !== undefined && request.valueRaw === undefined
    if (!meddling.has(entry.kind) && !isAsked) return [violation('I1', 'a trade was mined that nobody asked for', { mined: each, entry })]
    return []
  })
}

/** What the journal says of the end is what the chain says. */
export function ofJournal(known: IndexedHistory): Violation[] {
  return known.journal.flatMap((entry) => {
    const mined = entry.attempts.flatMap(({ txHash }) => known.minedBy(txHash) ?? [])
    const effect = mined.some(({ ok }) => ok)
    const evidence = { entry, mined }
    if (mined.length > 1) return [violation('I1', 'two attempts of one entry were mined', evidence)]
    if (entry.state === 'CONFIRMED' && !effect)
      return [violation('I1', 'the journal says CONFIRMED and the chain shows no effect', evidence)]
    if (failures.has(entry.state) && effect)
      return [violation('I1', `the journal says ${entry.state} and the chain shows the effect`, evidence)]
    if (entry.state === 'REVERTED' && mined.length === 0)
      return [violation('I1', 'the journal says REVERTED and the chain has no such transaction', evidence)]
    return []
  })
}

/** I7: what the wallets hold is what the journal and the chain explain, to the unit. */
function books({ unexplained = [] }: IndexedHistory): Violation[] {
  return unexplained.map((each) => violation('I7', 'a balance changed by what nothing explains', each))
}

/** I4: no nonce is used twice, none is left as a gap, and a wallet that others spend from heals itself. */
export function nonces(known: IndexedHistory): Violation[] {
  const late = known.healed.filter(({ blocks, allowed }) => blocks > allowed)
  return [...usedTwice(known), ...leftEmpty(known), ...late.map((each) => violation('I4', 'a wallet did not heal itself in time', each))]
}

/** A nonce has one trade, whatever replaces it: a bump makes the same call, and what cancels makes none. */
function usedTwice(known: IndexedHistory): Violation[] {
  const spending = known.signed.filter(({ call, txHash }) => call !== undefined && !known.foreign.has(txHash))
  const bySlot = groupBy(spending, ({ from, nonce }) => `${from}/${nonce}`)
  const twice = [...bySlot].flatMap(([slot, signed]) =>
    new Set(signed.map(({ call }) => call)).size > 1 ? [violation('I4', 'two trades were signed on one nonce', { slot, signed })] : [],
  )
  const entries = groupBy(
    known.journal.filter(({ attempts }) => attempts.length > 0),
    ({ address, nonce }) => `${address}/${nonce}`,
  )
  const unranked = [...entries].flatMap(([slot, sharing]) =>
    new Set(sharing.map(({ rank }) => rank)).size < sharing.length
      ? [violation('I4', 'two entries are on one nonce and neither replaces the other', { slot, entries: sharing })]
      : [],
  )
  return [...twice, ...unranked]
}

/** At the end nothing that was signed waits behind a nonce that nothing is on. */
function leftEmpty(known: IndexedHistory): Violation[] {
  return known.wallets.flatMap((wallet) => {
    const next = known.nextNonces.get(wallet) ?? 0
    const waiting = known.signed.filter(({ from, nonce }) => from === wallet && nonce >= next)
    const taken = new Set(waiting.map(({ nonce }) => nonce))
    const top = Math.max(next, ...taken)
    const empty = Array.from({ length: top - next }, (_, index) => next + index).filter((nonce) => !taken.has(nonce))
    return empty.length > 0 ? [violation('I4', 'a nonce was left empty and others wait behind it', { wallet, next, empty, waiting })] : []
  })
}
