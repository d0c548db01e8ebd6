import {
  CancelByCloidRequest,
  CancelByCloidResponse,
  CancelRequest,
  CancelResponse,
  NoopRequest,
  NoopResponse,
  ScheduleCancelRequest,
  ScheduleCancelResponse,
} from '@nktkas/hyperliquid/api/exchange'
import { fromUsd, toUsd } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import type { Order } from '../book/order.ts'
import { endOrder } from '../matching/cancel.ts'
import { refuse } from '../matching/refusal.ts'
import { defineAction, done, failed, statuses } from './action.ts'

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
