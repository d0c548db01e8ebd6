import { definiteErrors, idempotency, inTime, saidOf, isLastWord } from '../checker/invariants.ts'
import { knownOf, groupBy, violation, type Violation } from '../checker/known.ts'
import { orderIdOf } from '../checker/orders.ts'
import type { Call, JournalEntry } from '../history.ts'
import type { ExecutedAction, ToldBook } from './between.ts'
import { nameAtExchange, type ExchangeHistory, type KeptOrder, type ToldOrder } from './exchange-history.ts'
import { checkSeconds, staleSeconds } from './home.ts'
import type { ShownBook } from './watch-books.ts'

/** Compares what the bots were told, what the journal has and what the exchange did. Pure. */
export function checkHyperliquid(found: ExchangeHistory): Violation[] {
  const known = knownOf(found)
  // Of a batch one entry has many orders: those are judged by the orders' names alone.
  const alone = { ...known, requests: found.requests.filter(({ inBatch, op }) => !inBatch && op === 'order') }
  // A cancel is done when its order waits no more, whoever took it away.
  const samples = found.samples.filter(({ txHash }) => known.entryOf(txHash)?.kind === 'order')
  return [
    ...[placedOnce, toldAsItIs, answered, refusedForGood, journal, books].flatMap((judge) => judge(found)),
    ...definiteErrors(alone),
    ...idempotency(alone),
    ...saidOf({ ...known, samples }),
    ...inTime(known),
    ...found.wrongSums.map((wrong): Violation => ({ invariant: 'I1', what: 'money does not add up', evidence: { wrong } })),
  ]
}

/** I1: whatever is at the exchange somebody asked for, once; and who was given an order's number finds it there. */
function placedOnce({ requests, calls, kept }: ExchangeHistory): Violation[] {
  const byName = groupBy(kept, ({ cloid }) => cloid)
  const orders = new Map(requests.filter(({ op }) => op === 'order').map((request) => [nameAtExchange(request), request]))
  const cancelled = new Set(requests.flatMap(({ op, order }) => (op === 'cancel-order' ? (order ?? []) : [])))
  const callsOf = groupBy(calls, ({ request }) => request)
  const found = [...byName].flatMap(([cloid, at]): Violation[] => {
    const request = orders.get(cloid)
    const evidence = { request, at, calls: callsOf.get(request?.id ?? 0) }
    if (!request) return [violation('I1', 'an order is at the exchange that nobody asked for', evidence)]
    if (at.length > 1) return [violation('I1', 'an order was placed more than once', evidence)]
    if (at[0]?.status === 'canceled' && !cancelled.has(request.id))
      return [violation('I1', 'an order was cancelled that nobody wanted cancelled', evidence)]
    return []
  })
  const missing = [...orders].flatMap(([cloid, request]) => {
    const numbered = callsOf.get(request.id)?.find(({ outcome }) => outcome.is === 'answer' && outcome.orderId !== undefined)
    return numbered && !byName.has(cloid)
      ? [violation('I1', 'an order that was answered is not at the exchange', { request, numbered })]
      : []
  })
  return [...found, ...missing]
}

/** I5: what is told of an order at the end, in the list and by its name, is what the exchange has of it; nothing is left out, and nothing said twice. */
function toldAsItIs({ requests, calls, kept, told, toldByName, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Map(kept.map((each) => [each.cloid, each]))
  const listed = groupBy(told, ({ clientOrderId = '' }) => clientOrderId)
  const named = new Map(toldByName.map((each) => [each.clientOrderId, each]))
  const foreign = told.filter(({ clientOrderId }) => clientOrderId === undefined)
  const callsOf = groupBy(calls, ({ request }) => request)
  return [
    ...foreign.map((order) => violation('I1', 'an order is listed as if another program had placed it', { order })),
    ...requests.flatMap((request) => {
      if (request.op !== 'order') return []
      const at = atExchange.get(nameAtExchange(request))
      const orders = listed.get(orderIdOf(request)) ?? []
      const own = callsOf.get(request.id) ?? []
      const entries = journal.filter(({ requestId }) => own.some((call) => call.requestId === requestId))
      const evidence = { request, at, orders, calls: own, entries }
      if (orders.length > 1) return [violation('I1', 'an order is listed more than once', evidence)]
      const [order] = orders
      if (!order) return at ? [violation('I1', 'an order is at the exchange that is not listed', evidence)] : []
      return [order, named.get(order.clientOrderId)].flatMap((each) => {
        const wrong = each && wronglyTold(each, at)
        return wrong === undefined ? [] : [violation('I5', wrong, { ...evidence, order: each })]
      })
    }),
  ]
}

function wronglyTold({ state, orderId, filledAmount }: ToldOrder, at: KeptOrder | undefined): string | undefined {
  if (!at) return nowhere.has(state) ? undefined : `said ${state} of an order that is not at the exchange`
  const is = stateOf(at)
  if (state !== is) return `said ${state} of an order that is ${is}`
  if (is === 'REJECTED') return undefined
  if (orderId !== at.orderId) return `said that its id is ${orderId ?? 'none'} where it is ${at.orderId}`
  return filledAmount === at.filled ? undefined : `said that ${filledAmount} was filled where ${at.filled} was`
}

/** I3 and I5: an end that was answered is the end that there is, whoever asked; and one key has one answer. */
function answered({ requests, calls, kept, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Map(kept.map((each) => [each.cloid, each]))
  const byId = new Map(requests.map((request) => [request.id, request]))
  const callsOf = groupBy(calls, ({ request }) => request)
  const neverSigned = new Set(journal.flatMap(({ requestId, attempts }) => (attempts.length === 0 ? [requestId] : [])))
  return requests.flatMap((request) => {
    const order = request.op === 'order' ? request : byId.get(request.order ?? 0)
    if (!order) return []
    const at = atExchange.get(nameAtExchange(order))
    const own = callsOf.get(request.id) ?? []
    const evidence = { request, order, at, calls: own }
    // Given up before it was signed, its id was free, and whoever wanted it asked again.
    const wasGivenUp = (callsOf.get(order.id) ?? []).some(({ requestId }) => neverSigned.has(requestId))
    const wrong = own.flatMap((call) => (wasGivenUp && isFailed(call) ? [] : (wronglyAnswered(call, at) ?? [])))
    const answers = new Set(own.flatMap(({ outcome }) => (outcome.is === 'answer' && outcome.status === 200 ? [outcome.text] : [])))
    const isOne = request.key === undefined || request.inBatch || request.op !== 'order' || answers.size < 2
    return [
      ...wrong.map((what) => violation('I5', what, evidence)),
      ...(isOne ? [] : [violation('I3', 'one key got different answers', evidence)]),
    ]
  })
}

const isFailed = ({ outcome }: Call) => outcome.is === 'answer' && outcome.state === 'FAILED'

function wronglyAnswered({ outcome }: Call, at: KeptOrder | undefined): string | undefined {
  if (outcome.is === 'lost') return undefined
  const { state, orderId } = outcome
  if (orderId !== undefined && orderId !== at?.orderId) return `answered the id ${orderId} where it is ${at?.orderId ?? 'none'}`
  if (state === undefined || !ends.has(state)) return undefined
  const is = at && stateOf(at)
  if (is === undefined) return nowhere.has(state) ? undefined : `answered ${state} of an order that is not at the exchange`
  return state === is ? undefined : `answered ${state} of an order that is ${is}`
}

/** How an order is to be called that the exchange has. */
function stateOf({ status, amount, filled }: Pick<KeptOrder, 'status' | 'amount' | 'filled'>): string {
  if (status.endsWith('Rejected')) return 'REJECTED'
  if (status === 'open') return Number(filled) > 0 ? 'PARTIALLY_FILLED' : 'OPEN'
  if (status === 'filled') return filled === amount ? 'FILLED' : 'CANCELED'
  return 'CANCELED'
}

/** Of an order that is not at the exchange. */
const nowhere: ReadonlySet<string> = new Set(['FAILED', 'REJECTED'])

const ends: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

/** I2: what was refused with a definite error is not at the exchange, was not sent there, and never will be. */
function refusedForGood({ requests, calls, kept, signed, executed, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Set(kept.map(({ cloid }) => cloid))
  const callsOf = groupBy(calls, ({ request }) => request)
  const bytes = signed.filter(({ call = '' }) => call.includes('"orders"'))
  const done = new Map(executed.map((each) => [each.id, each]))
  return requests.flatMap((request) => {
    const own = callsOf.get(request.id) ?? []
    const error = own.find((call) => isLastWord(call, own))
    if (!error) return []
    if (request.op === 'order') {
      const cloid = nameAtExchange(request)
      const found = bytes.filter(({ call = '' }) => call.includes(cloid))
      const evidence = { request, error, calls: own, found }
      if (atExchange.has(cloid)) return [violation('I2', 'an order is at the exchange after a definite error', evidence)]
      return found.some(({ wasSent }) => wasSent) ? [violation('I2', 'an order was sent after a definite error', evidence)] : []
    }
    // What the exchange refused to cancel was sent, and nothing came of it.
    const entries = request.inBatch ? [] : journal.filter(({ requestId }) => own.some((call) => call.requestId === requestId))
    const effects = entries.flatMap(({ attempts }) => attempts).filter(({ txHash }) => done.get(txHash)?.ok)
    return effects.length > 0
      ? [violation('I2', 'an order was cancelled after a definite error', { request, error, calls: own, entries })]
      : []
  })
}

const failures: ReadonlySet<string> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I1 and I4: nothing leaves that is not in the journal, what that says of the end is what the exchange did, and no nonce has two actions. */
function journal({ journal: entries, signed, executed }: ExchangeHistory): Violation[] {
  const done = new Map(executed.map((each) => [each.id, each]))
  const unknown = signed.filter(({ entry }) => entry === undefined)
  return [
    ...unknown.map((each) => violation('I1', 'bytes were sent that are not in the journal', { signed: each })),
    ...entries.flatMap((entry) => ofEntry(entry, done)),
    ...usedTwice(entries),
  ]
}

function ofEntry(entry: JournalEntry, done: ReadonlyMap<string, ExecutedAction>): Violation[] {
  const { state, kind, attempts } = entry
  const effects = attempts.flatMap(({ txHash }) => done.get(txHash) ?? [])
  const evidence = { entry, effects }
  // What the exchange refused had no effect, though nobody heard its words. Nor has an action that only excludes another one: where its answer
  // was lost, it leaves no trace to be found by, and what it excluded is judged by itself.
  const isIdle = kind === 'cancel' && state === 'EXPIRED'
  if (failures.has(state) && !isIdle && effects.some(({ ok }) => ok))
    return [violation('I1', `the journal says ${state} and the exchange carried it out`, evidence)]
  if (state === 'CONFIRMED' && kind === 'order' && !effects.some(({ ok }) => ok))
    return [violation('I1', 'the journal says CONFIRMED and the exchange shows no effect', evidence)]
  if (state === 'REVERTED' && effects.some(({ ok }) => ok))
    return [violation('I1', 'the journal says REVERTED and the exchange shows the effect', evidence)]
  return []
}

/** What takes the place of another does nothing. */
function usedTwice(entries: readonly JournalEntry[]): Violation[] {
  const acting = entries.filter(({ kind, attempts }) => kind !== 'cancel' && attempts.length > 0)
  const bySlot = groupBy(acting, ({ signer, address, nonce }) => `${signer ?? address}/${nonce}`)
  return [...bySlot].flatMap(([slot, sharing]) =>
    sharing.length > 1 ? [violation('I4', 'two actions have one nonce', { slot, sharing })] : [],
  )
}

const coins: Readonly<Record<string, string>> = { 'HYPE-USDC': '@107', 'ETH-USD': 'ETH' }
/** A message that was lost is found out by silence or by the next comparisons; some more for a busy machine. */
const mostBehindMs = (staleSeconds + 4 * checkSeconds) * 1000

/** I5: a book that was shown is one that the exchange had, not long ago, and none older than what was shown before; and the last is the exchange's last. */
function books({ books: { told, shown, atEnd } }: ExchangeHistory): Violation[] {
  const toldOf = groupBy(told, ({ coin }) => coin)
  const newest = new Map<string, ShownBook>()
  return [
    ...atEnd.flatMap(({ market, shown: seen, is }) =>
      seen === is ? [] : [violation('I5', 'the last book is not what the exchange has', { market, seen, is })],
    ),
    ...shown.flatMap((book) => {
      const of = toldOf.get(coins[book.market] ?? '') ?? []
      const place = `${book.pid} ${book.market}`
      const before = newest.get(place)
      newest.set(place, book)
      if (before && before.sequence > book.sequence) return [violation('I5', 'a book was shown after a newer one', { book, before })]
      const wrong = wronglyShown(book, of)
      return wrong === undefined ? [] : [violation('I5', wrong, { book, told: of.filter(({ time }) => time === book.sequence) })]
    }),
  ]
}

function wronglyShown({ sequence, content, at }: ShownBook, told: readonly ToldBook[]): string | undefined {
  if (!told.some((each) => each.time === sequence && each.content === content)) return 'a book was shown that the exchange never told of'
  const next = told.find((each) => each.time > sequence && each.content !== content)
  return next && at - next.at > mostBehindMs ? 'a book was shown long after the exchange had told another' : undefined
}
