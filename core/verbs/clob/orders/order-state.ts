import type { ActionOutcome, BookOrder, OrderState } from '../../../contracts/index.ts'
import { isFinal, type Entry } from '../../../transactions/entry.ts'
import { larger } from '../figures/exact.ts'

const ends: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

/** Nothing becomes of it any more. */
export const hasEnded = (state: OrderState) => ends.has(state)

/** What is known of an order. */
export interface OrderFacts {
  /** The journal's, of what was to place it. */
  readonly entry: Pick<Entry, 'state' | 'landed' | 'reason' | 'replacedBy'>
  /** What its receipt says, where it landed. */
  readonly outcome?: ActionOutcome
  /** As the exchange has it now. */
  readonly exchange?: Pick<BookOrder, 'orderId' | 'state' | 'filledAmount' | 'averagePrice'>
  /** What was kept of it. */
  readonly said?: ActionOutcome
  /** A cancel of ours is under way. */
  readonly cancelling: boolean
}

/**
 * The state of an order as callers see it, and what else is known: the exchange's word over its receipt's, and an end over what is open. But what
 * ended in its own receipt ended just so: of what is read of it later a part may be missing, such as fills of long ago.
 */
export function orderState({ entry, outcome, exchange, said, cancelling }: OrderFacts): ActionOutcome & { filledAmount: string } {
  const landed = entry.landed?.ok === true
  const words: ActionOutcome[] = [...(exchange ? [exchange] : []), ...(landed && outcome ? [outcome] : []), ...(said ? [said] : [])]
  const atOnce = landed && outcome && hasEnded(outcome.state) && outcome.state !== 'REJECTED' ? outcome : undefined
  const word = atOnce ?? words.find(({ state }) => hasEnded(state)) ?? words[0]
  if (!word) return { state: unsaid(entry), filledAmount: '0', ...(entry.reason !== undefined && { reason: entry.reason }) }
  const known = (key: 'orderId' | 'averagePrice' | 'reason') => [word, ...words].find((each) => each[key] !== undefined)?.[key]
  const [orderId, averagePrice, reason] = [known('orderId'), known('averagePrice'), known('reason')]
  return {
    state: cancelling && !hasEnded(word.state) ? 'PENDING_CANCEL' : word.state,
    // Of two that were read one after the other the larger is the newer.
    filledAmount: (atOnce ? [atOnce] : words).reduce((most, { filledAmount = '0' }) => larger(most, filledAmount), '0'),
    ...(orderId !== undefined && { orderId }),
    ...(averagePrice !== undefined && { averagePrice }),
    ...(reason !== undefined && { reason }),
  }
}

/** Where neither the exchange nor a receipt says anything. */
function unsaid({ state, landed, replacedBy }: OrderFacts['entry']): OrderState {
  if (landed) return landed.ok ? 'OPEN' : 'REJECTED'
  if (isFinal({ state })) return 'FAILED'
  return replacedBy === undefined ? 'PENDING_OPEN' : 'PENDING_CANCEL'
}
