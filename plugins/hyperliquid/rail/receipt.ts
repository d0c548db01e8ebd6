import { orderStates } from 'sluice/plugin'
import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import { decimal, whole } from '../api/shape.ts'

/** Where an answer was lost: the order as the exchange has it. */
const found = Type.Object({ found: Type.Object({ oid: whole, state: Type.Enum([...orderStates]), filledAmount: decimal }) })

/** What the exchange says of one order or cancel of an action. */
const said = Type.Union([
  Type.Object({ resting: Type.Object({ oid: whole }) }),
  Type.Object({ filled: Type.Object({ oid: whole, totalSz: decimal, avgPx: decimal }) }),
  Type.Object({ error: Type.String() }),
  Type.Literal('success'),
  Type.Literal('waitingForFill'),
  Type.Literal('waitingForTrigger'),
  found,
])
export type Said = Static<typeof said>

const receiptShape = Type.Object({ statuses: Type.Array(said) })
/** What is kept of what came of an action: one status for each of its orders or cancels, or one for all. */
export type Receipt = Static<typeof receiptShape>

export const isReceipt = (value: unknown): value is Receipt => Check(receiptShape, value)

export const errorOf = (status: Said): string | undefined =>
  typeof status === 'object' && 'error' in status ? status.error.trim() : undefined

/** Why nothing of an action came about; undefined where any of it did. */
export function refusalOf({ statuses }: Receipt): string | undefined {
  const errors = statuses.flatMap((status) => errorOf(status) ?? [])
  return errors.length > 0 && errors.length === statuses.length ? [...new Set(errors)].join('; ') : undefined
}
