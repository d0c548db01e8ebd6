import type { JournalEntry, MinedTransaction } from '../history.ts'
import { groupBy, violation, type IndexedHistory, type Violation } from '../checker/known.ts'
import type { SwapOrder } from './swap-bots.ts'

/** What the server says of the answers to one request, by its Idempotency-Key. */
export type DeliveryStates = ReadonlyMap<string, string>

/**
 * The swaps of bots that send no keys: each order is on the chain once, or never and its bot was told so. Pure.
 * @param deliveries as the store has them at the end
 */
export const checkSwaps =
  (orders: readonly SwapOrder[], deliveries: DeliveryStates) =>
  (known: IndexedHistory): Violation[] => {
    const mined = groupBy(
      known.mined.filter(({ ok }) => ok),
      ({ valueRaw }) => valueRaw,
    )
    const entries = groupBy(known.journal, ({ requestId }) => requestId)
    return [
      ...[...groupBy(orders, ({ intent }) => intent)].flatMap(([intent, own]) =>
        ofIntent(own, mined.get(intent.amountRaw) ?? [], known, deliveries),
      ),
      ...orders.flatMap((order) => ofAnswers(order, entries, known)),
      ...unasked(orders, known),
      ...unknownPolls(known),
    ]
  }

/** I1: how often an amount was traded is what its bots know. */
function ofIntent(
  orders: readonly SwapOrder[],
  mined: readonly MinedTransaction[],
  known: IndexedHistory,
  deliveries: DeliveryStates,
): Violation[] {
  const filled = orders.filter(({ booked }) => booked === 'filled')
  const signatures = new Set(filled.map(({ signature }) => signature))
  const onChain = new Set(mined.map(({ txHash }) => txHash))
  const evidence = { orders, mined, entries: mined.map(({ txHash }) => shown(known.entryOf(txHash), deliveries)) }
  const missing = filled.filter(({ signature = '' }) => !isOnChain(signature, known))
  if (missing.length > 0) return [violation('I1', 'a bot booked a fill that is not on the chain', evidence)]
  if (signatures.size < filled.length) return [violation('I1', 'two orders were answered with one transaction', evidence)]
  const others = [...onChain].filter((txHash) => !filled.some(({ signature = '' }) => isSame(signature, txHash, known)))
  const unknown = orders.filter(({ booked }) => booked === 'unknown').length
  const unheard = orders.flatMap(({ calls }) => calls).filter(({ outcome }) => outcome.is === 'lost' && outcome.isUnknown()).length
  if (others.length > unknown + unheard)
    return [violation('I1', 'an amount was traded more often than its bots know, and no answer was lost on the way', evidence)]
  // What a link took was delivered, as far as a server can know.
  const unsaid = others.filter((txHash) => !isLost(known.entryOf(txHash), deliveries))
  if (unsaid.length > unheard) return [violation('I1', 'a trade of which no bot knows is not in the book of lost answers', evidence)]
  return []
}

/** It, or another attempt of its entry. */
const isOnChain = (signature: string, known: IndexedHistory): boolean =>
  (known.entryOf(signature)?.attempts ?? []).some(({ txHash }) => known.minedBy(txHash)?.ok === true)

const isSame = (one: string, other: string, known: IndexedHistory): boolean =>
  one === other || known.entryOf(one)?.attempts.some(({ txHash }) => txHash === other) === true

const isLost = (entry: JournalEntry | undefined, deliveries: DeliveryStates): boolean =>
  ['lost', 'uncollected', 'open'].includes(deliveries.get(entry?.idempotencyKey ?? '') ?? '')

const shown = (entry: JournalEntry | undefined, deliveries: DeliveryStates) =>
  entry && {
    key: entry.key,
    requestId: entry.requestId,
    state: entry.state,
    delivery: deliveries.get(entry.idempotencyKey ?? '') ?? 'none',
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
