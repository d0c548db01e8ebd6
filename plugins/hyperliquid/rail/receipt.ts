import { orderStates } from 'sluice/plugin'
import { decimal, either, is, list, object, text, whole, word } from '../shape.ts'
import type { Of } from '../shape.ts'

/** Where an answer was lost: the order as the exchange has it. */
const found = object({ found: object({ oid: whole, state: word(...orderStates), filledAmount: decimal }) })

/** What the exchange says of one order or cancel of an action. */
const said = either(
  object({ resting: object({ oid: whole }) }),
  object({ filled: object({ oid: whole, totalSz: decimal, avgPx: decimal }) }),
  object({ error: text }),
  word('success'),
  word('waitingForFill'),
  word('waitingForTrigger'),
  found,
)
export type Said = Of<typeof said>

const receiptShape = object({ statuses: list(said) })
/** What is kept of what came of an action: one status for each of its orders or cancels, or one for all. */
export type Receipt = Of<typeof receiptShape>

export const isReceipt = (value: unknown): value is Receipt => is(receiptShape, value)

export const errorOf = (status: Said): string | undefined =>
  typeof status === 'object' && 'error' in status ? status.error.trim() : undefined

/** Why nothing of an action came about; undefined where any of it did. */
export function refusalOf({ statuses }: Receipt): string | undefined {
  const errors = statuses.flatMap((status) => errorOf(status) ?? [])
  return errors.length > 0 && errors.length === statuses.length ? [...new Set(errors)].join('; ') : undefined
}
