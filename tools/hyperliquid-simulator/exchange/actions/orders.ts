import {
  BatchModifyRequest,
  BatchModifyResponse,
  ModifyRequest,
  ModifyResponse,
  OrderRequest,
  OrderResponse,
} from '@nktkas/hyperliquid/api/exchange'
import type { Engine } from '../engine.ts'
import type { Account } from '../ledger/account.ts'
import { endOrder } from '../matching/cancel.ts'
import { placeOrder } from '../matching/place-order.ts'
import { readOrder, type OrderWire } from '../matching/read-order.ts'
import { defineAction, done, failed, statuses } from './action.ts'

const show = (placed: ReturnType<typeof placeOrder>) => ('error' in placed ? { error: placed.error } : placed)

export const order = defineAction({
  request: OrderRequest,
  response: OrderResponse,
  weight: ({ orders }) => orders.length,
  run: (engine, account, { orders, grouping }) => {
    if (orders.length === 0) return statuses('order', [{ error: 'Batch of orders is empty.' }])
    if (grouping !== 'na') return statuses('order', [{ error: 'Invalid TP/SL price.' }])
    const read = orders.map((wire) => readOrder(engine, account.address, wire))
    // One that can be none refuses all of them, with one error for all.
    const wrong = read.find((each) => typeof each === 'string')
    if (wrong) return statuses('order', [{ error: wrong }])
    return statuses(
      'order',
      read.flatMap((each) => (typeof each === 'string' ? [] : [show(placeOrder(engine, each))])),
    )
  },
})

const gone = 'Cannot modify canceled or filled order'

/** The old one is gone before the new one is looked at. */
function replace(engine: Engine, account: Account, oid: number | string, wire: OrderWire) {
  const old = typeof oid === 'number' ? account.open.get(oid) : account.byCloid.get(oid)
  if (old?.status !== 'open' || old.market.asset !== wire.a) return { error: gone }
  const read = readOrder(engine, account.address, wire)
  if (typeof read === 'string') return { error: read }
  endOrder(engine, old, 'canceled')
  return show(placeOrder(engine, read))
}

export const modify = defineAction({
  request: ModifyRequest,
  response: ModifyResponse,
  run: (engine, account, { oid, order: wire }) => {
    const result = replace(engine, account, oid, wire)
    return 'error' in result ? failed(result.error === gone ? gone : `Error placing new order during modify: ${result.error}`) : done
  },
})

export const batchModify = defineAction({
  request: BatchModifyRequest,
  response: BatchModifyResponse,
  weight: ({ modifies }) => modifies.length,
  run: (engine, account, { modifies }) =>
    statuses(
      'order',
      modifies.map(({ oid, order: wire }) => replace(engine, account, oid, wire)),
    ),
})
