import { parseEther } from 'ethers'
import type { JournalEntry, MinedTransaction } from '../history.ts'
import { groupBy, violation, type IndexedHistory, type Violation } from '../checker/known.ts'
import type { SwapOrder } from './swap-bots.ts'

/** What the store has of the answers to requests that sent no key, by the Idempotency-Key that each was given. */
export interface DeliveryBook {
  /** At the end. */
  readonly states: ReadonlyMap<string, string>
  /** When servers were killed that had its answer, neither known to be delivered nor to be lost, by the clock of the run. */
  readonly openAtDeaths: ReadonlyMap<string, readonly number[]>
}

/** The swaps of bots that send no keys: each order is on the chain once, or never and its bot was told so. Pure. */
export const checkSwaps =
  (orders: readonly SwapOrder[], book: DeliveryBook) =>
  (known: IndexedHistory): Violation[] => {
    const mined = groupBy(
      known.mined.filter(({ ok }) => ok),
      ({ valueRaw }) => valueRaw,
    )
    const entries = groupBy(known.journal, ({ requestId }) => requestId)
    return [
      ...[...groupBy(orders, ({ intent }) => intent.id).values()].flatMap((own) =>
        ofIntent(own, mined.get(own[0]?.intent.amountRaw ?? 0n) ?? [], known, book),
      ),
      ...shared(orders, known, book),
      ...orders.flatMap((order) => [...ofFill(order, known), ...ofAnswers(order, entries, known)]),
      ...unasked(orders, known),
      ...unknownPolls(known),
    ]
  }

/** I1: no amount was traded more often than its bots know. */
function ofIntent(
  orders: readonly SwapOrder[],
  mined: readonly MinedTransaction[],
  known: IndexedHistory,
  { states }: DeliveryBook,
): Violation[] {
  const evidence = { orders: orders.map(briefly), mined, entries: mined.map(({ txHash }) => shown(known.entryOf(txHash), states)) }
  const isOf = (txHash: string, signatures: readonly string[]) => signatures.some((signature) => isSame(signature, txHash, known))
  const booked = orders.flatMap((order) => (order.booked === 'filled' ? (order.signature ?? []) : []))
  // What a line took was delivered, as far as a server can know: `sluice proxy` reports what its client has not read.
  const unread = orders.flatMap(({ way, calls }) =>
    calls.flatMap(({ outcome }) => (way === 'tls' && outcome.is === 'lost' ? (outcome.unread() ?? []) : [])),
  )
  const others = mined.filter(({ txHash }) => !isOf(txHash, booked) && !isOf(txHash, unread))
  const unknown = orders.filter((order) => order.booked === 'unknown').length
  // Who got another order's transaction did not get its own (`shared`).
  const doubled = booked.length - new Set(booked.map((signature) => known.entryOf(signature)?.key ?? signature)).size
  if (others.length > unknown + doubled)
    return [violation('I1', 'an amount was traded more often than its bots know, and no answer was lost on the way', evidence)]
  if (!others.every(({ txHash }) => isLost(known.entryOf(txHash), states)))
    return [violation('I1', 'a trade of which no bot knows is not in the book of lost answers', evidence)]
  return []
}

/** What a server wrote before its end may arrive so long after it. The next one takes longer to start. */
const onTheWayMs = 500

/**
 * I1: no two orders have one transaction. A server that is killed after it wrote an answer, and before it wrote down that it had, leaves an
 * answer that counts as lost: where its bot had read it before and wanted the same again, it gets the same, once for each such death. Not so where all
 * orders came through `sluice proxy`, which reports to the next server what was read.
 */
const shared = (orders: readonly SwapOrder[], known: IndexedHistory, { states, openAtDeaths }: DeliveryBook): Violation[] => {
  const filled = orders.filter(({ booked }) => booked === 'filled')
  return [...groupBy(filled, ({ signature = '' }) => known.entryOf(signature)?.key ?? signature).values()].flatMap((own) => {
    const entry = known.entryOf(own[0]?.signature ?? '')
    const isOneIntent = own.every(({ intent }) => intent.id === own[0]?.intent.id)
    const readAt = Math.min(
      ...own.flatMap(({ calls }) => calls.flatMap(({ outcome, endedAt }) => (outcome.is === 'signature' ? endedAt : []))),
    )
    const deaths = openAtDeaths.get(entry?.idempotencyKey ?? '') ?? []
    const excused = isOneIntent && own.some(({ way }) => way === 'tls') ? deaths.filter((diedAt) => readAt < diedAt + onTheWayMs).length : 0
    return own.length > 1 + excused
      ? [
          violation('I1', 'two orders were answered with one transaction', {
            excused,
            entry: shown(entry, states),
            orders: own.map(briefly),
          }),
        ]
      : []
  })
}

/** I1 and I5: a fill is on the chain, of the wallet and the amount of its order, and as it was told. */
function ofFill(order: SwapOrder, known: IndexedHistory): Violation[] {
  const { intent, booked, signature = '', calls } = order
  if (booked !== 'filled') return []
  const mined = minedOf(signature, known)
  if (!mined) return [violation('I1', 'a bot booked a fill that is not on the chain', { order })]
  if (mined.valueRaw !== intent.amountRaw || mined.from.toLowerCase() !== intent.wallet.toLowerCase())
    return [violation('I1', 'an order was answered with a transaction of another amount or wallet', { order, mined })]
  return calls.flatMap(({ outcome }) => {
    if (outcome.is !== 'signature' || outcome.amountIn === undefined || parseEther(outcome.amountIn) === intent.amountRaw) return []
    return [violation('I5', 'an answer says another amount than was swapped', { order, outcome })]
  })
}

/** It, or another attempt of its entry. */
const minedOf = (signature: string, known: IndexedHistory): MinedTransaction | undefined =>
  (known.entryOf(signature)?.attempts ?? []).map(({ txHash }) => known.minedBy(txHash)).find((mined) => mined?.ok)

const isSame = (one: string, other: string, known: IndexedHistory): boolean =>
  one === other || known.entryOf(one)?.attempts.some(({ txHash }) => txHash === other) === true

/** Without the texts of answers. */
const briefly = ({ calls, ...order }: SwapOrder) => ({
  ...order,
  calls: calls.map(({ requestId, sentAt, endedAt, outcome }) => ({
    requestId,
    sentAt,
    endedAt,
    outcome: { ...outcome, text: undefined, ...(outcome.is === 'lost' && { unread: outcome.unread() }) },
  })),
})

const isLost = (entry: JournalEntry | undefined, states: DeliveryBook['states']): boolean =>
  ['lost', 'uncollected', 'open'].includes(states.get(entry?.idempotencyKey ?? '') ?? '')

const shown = (entry: JournalEntry | undefined, states: DeliveryBook['states']) =>
  entry && {
    key: entry.key,
    requestId: entry.requestId,
    state: entry.state,
    delivery: states.get(entry.idempotencyKey ?? '') ?? 'none',
  }

/** I2: nothing that was signed is refused, and nothing is answered that makes a client send it again. */
function ofAnswers(order: SwapOrder, entries: ReadonlyMap<string, JournalEntry[]>, known: IndexedHistory): Violation[] {
  return order.calls.flatMap(({ requestId, outcome }) => {
    if (outcome.is === 'lost') return []
    const evidence = { order, outcome }
    if (/TRANSACTION_TIMEOUT|"status":\s*0/.test(outcome.text))
      return [violation('I2', 'an answer makes the client send a swap again', evidence)]
    if (outcome.is === 'signature' && outcome.signature === '')
      return [violation('I2', 'a swap was answered without a signature', evidence)]
    if (outcome.is === 'signature' || outcome.code === 'SLIPPAGE_EXCEEDED') return []
    const sent = (entries.get(requestId) ?? []).flatMap(({ attempts }) => attempts).filter(({ txHash }) => known.minedBy(txHash)?.ok)
    return sent.length === 0 ? [] : [violation('I2', 'what was signed and is on the chain was refused', { ...evidence, sent })]
  })
}

/** I1: whatever the wallets did on the chain, a bot asked for it and the journal has it. */
function unasked(orders: readonly SwapOrder[], known: IndexedHistory): Violation[] {
  const asked = new Set(orders.map(({ intent }) => intent.amountRaw))
  return known.mined.flatMap((each) => {
    const entry = known.entryOf(each.txHash)
    if (!entry) return [violation('I1', 'a transaction was mined that is not in the journal', { mined: each })]
    return each.valueRaw > 0n && !asked.has(each.valueRaw)
      ? [violation('I1', 'a trade was mined that nobody asked for', { mined: each, entry })]
      : []
  })
}

/** I5: what the journal knows is not unknown. */
const unknownPolls = (known: IndexedHistory): Violation[] =>
  known.samples.flatMap((sample) =>
    sample.txStatus === -2 && known.entryOf(sample.txHash) ? [violation('I5', 'said -2 of what the journal knows', { sample })] : [],
  )
