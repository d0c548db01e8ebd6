import {
  BatchModifyRequest,
  BatchModifyResponse,
  ModifyRequest,
  ModifyResponse,
  OrderRequest,
  OrderResponse,
  CancelByCloidRequest,
  CancelByCloidResponse,
  CancelRequest,
  CancelResponse,
  NoopRequest,
  NoopResponse,
  ScheduleCancelRequest,
  ScheduleCancelResponse,
} from '@nktkas/hyperliquid/api/exchange'
import type { Account } from '../account.ts'
import { fromUsd, toUsd } from '../amounts.ts'
import type { Order } from '../book.ts'
import type { Engine } from '../engine.ts'
import { endOrder } from '../matching/match.ts'
import { placeOrder } from '../matching/place-order.ts'
import { readOrder, refuse, type OrderWire } from '../matching/check-order.ts'
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

function end(engine: Engine, order: Order | undefined, asset: number) {
  if (order?.status !== 'open' || order.market.asset !== asset)
    return { error: refuse('Order was never placed, already canceled, or filled.', asset).error }
  endOrder(engine, order, 'canceled')
  return 'success'
}

export const cancel = defineAction({
  request: CancelRequest,
  response: CancelResponse,
  isCancel: true,
  weight: ({ cancels }) => cancels.length,
  run: (engine, account, { cancels }) =>
    statuses(
      'cancel',
      cancels.map(({ a, o }) => end(engine, account.open.get(o), a)),
    ),
})

export const cancelByCloid = defineAction({
  request: CancelByCloidRequest,
  response: CancelByCloidResponse,
  isCancel: true,
  weight: ({ cancels }) => cancels.length,
  run: (engine, account, { cancels }) =>
    statuses(
      'cancel',
      cancels.map(({ asset, cloid }) => end(engine, account.byCloid.get(cloid), asset)),
    ),
})

/** Its nonce is taken, and nothing else. */
export const noop = defineAction({ request: NoopRequest, response: NoopResponse, run: () => done })

export const scheduleCancel = defineAction({
  request: ScheduleCancelRequest,
  response: ScheduleCancelResponse,
  run: (engine, account, { time }) => {
    const required = engine.rules.volumeForScheduledCancel
    if (account.volumeUsd < toUsd(required))
      return failed(
        `Cannot set scheduled cancel time until enough volume traded. Required: $${required}. Traded: $${fromUsd(account.volumeUsd)}.`,
      )
    if (time !== undefined && time < engine.clock.now() + 5000)
      return failed('Scheduled cancel time too early, must be at least 5 seconds from now.')
    account.cancelAllAt = time
    return done
  },
})
