import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { orderStates } from '../../contracts/index.ts'
import type { OrderRow } from '../../store/tables.ts'
import { readBody } from '../journal/entry-rows.ts'
import type { JournaledOrder, SaidOfOrder } from '../book-orders.ts'

const Said = Compile(
  Type.Object({
    orderId: Type.Optional(Type.String()),
    state: Type.Union(orderStates.map((each) => Type.Literal(each))),
    filledAmount: Type.Optional(Type.String()),
    averagePrice: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    updatedAt: Type.Number(),
  }),
)

/** @throws Error naming the key, where a row is not what was written */
export function readOrder(row: OrderRow & { body: string }): JournaledOrder {
  const { key, client_order_id: clientOrderId, type, market, place: index, entry_key, body } = row
  const order = { key, clientOrderId, type, market, index, about: JSON.parse(row.about), entry: readBody(entry_key, body) }
  return row.said === null ? order : { ...order, said: readSaid(key, row.said) }
}

function readSaid(key: string, text: string): SaidOfOrder {
  const said: unknown = JSON.parse(text)
  if (Said.Check(said)) return said
  throw new Error(`What was said of the journal's order ${key} cannot be read: restore the store from a copy, or remove that row.`)
}
