import { definiteErrors } from '../../checker/definite-errors.ts'
import { idempotency } from '../../checker/idempotency.ts'
import { inTime } from '../../checker/in-time.ts'
import { knownOf } from '../../checker/known.ts'
import { saidOf } from '../../checker/said-of.ts'
import type { Violation } from '../../checker/violation.ts'
import type { ExchangeHistory } from '../found.ts'
import { books } from './books.ts'
import { journal } from './journal.ts'
import { placedOnce } from './placed-once.ts'
import { answered } from './answered.ts'
import { refusedForGood } from './refused-for-good.ts'
import { toldAsItIs } from './told-as-it-is.ts'

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
