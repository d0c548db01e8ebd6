import type { ActionOutcome, CLOB, Json } from '../../../contracts/index.ts'
import type { Submitted } from '../../../transactions/submit-request.ts'
import type { Planned } from './plan-actions.ts'

type Book = Pick<CLOB, 'outcome'>

/** Nothing where the connector fails, too: its log has the defect, and that something was sent is worth more than what it came to. */
export function toldBy(book: Book, receipt: Json, memo: Json): readonly ActionOutcome[] | undefined {
  try {
    return book.outcome(receipt, memo)
  } catch {
    return undefined
  }
}

/** What the exchange said of a plan's actions at once, if it did. */
export function outcomesAtOnce(book: Book, { plan, covers }: Planned, { landed }: Submitted): readonly ActionOutcome[] | undefined {
  if (!landed) return undefined
  if (landed.ok) {
    const told = toldBy(book, landed.receipt, plan.memo)
    // Of more or fewer than it covers nobody can say which is which.
    return told?.length === covers.length ? told : undefined
  }
  const { reason } = landed
  return covers.map(() => ({ state: 'REJECTED', ...(reason !== undefined && { reason }) }))
}
