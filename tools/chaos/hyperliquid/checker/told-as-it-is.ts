import { groupBy } from '../../checker/known.ts'
import { orderIdOf } from '../../checker/orders.ts'
import type { Violation } from '../../checker/violation.ts'
import { nameAtExchange, type ExchangeHistory, type KeptOrder } from '../found.ts'
import type { ToldOrder } from '../list-orders.ts'
import { nowhere, stateOf } from './states.ts'

/** I5: what is told of an order at the end, in the list and by its name, is what the exchange has of it; nothing is left out, and nothing said twice. */
export function toldAsItIs({ requests, calls, kept, told, toldByName, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Map(kept.map((each) => [each.cloid, each]))
  const listed = groupBy(told, ({ clientOrderId = '' }) => clientOrderId)
  const named = new Map(toldByName.map((each) => [each.clientOrderId, each]))
  const foreign = told.filter(({ clientOrderId }) => clientOrderId === undefined)
  const callsOf = groupBy(calls, ({ request }) => request)
  return [
    ...foreign.map((order) => violation('I1', 'an order is listed as if another program had placed it', { order })),
    ...requests.flatMap((request) => {
      if (request.op !== 'order') return []
      const at = atExchange.get(nameAtExchange(request))
      const orders = listed.get(orderIdOf(request)) ?? []
      const own = callsOf.get(request.id) ?? []
      const entries = journal.filter(({ requestId }) => own.some((call) => call.requestId === requestId))
      const evidence = { request, at, orders, calls: own, entries }
      if (orders.length > 1) return [violation('I1', 'an order is listed more than once', evidence)]
      const [order] = orders
      if (!order) return at ? [violation('I1', 'an order is at the exchange that is not listed', evidence)] : []
      return [order, named.get(order.clientOrderId)].flatMap((each) => {
        const wrong = each && wrongIn(each, at)
        return wrong === undefined ? [] : [violation('I5', wrong, { ...evidence, order: each })]
      })
    }),
  ]
}

function wrongIn({ state, orderId, filledAmount }: ToldOrder, at: KeptOrder | undefined): string | undefined {
  if (!at) return nowhere.has(state) ? undefined : `said ${state} of an order that is not at the exchange`
  const is = stateOf(at)
  if (state !== is) return `said ${state} of an order that is ${is}`
  if (is === 'REJECTED') return undefined
  if (orderId !== at.orderId) return `said that its id is ${orderId ?? 'none'} where it is ${at.orderId}`
  return filledAmount === at.filled ? undefined : `said that ${filledAmount} was filled where ${at.filled} was`
}

const violation = (invariant: Violation['invariant'], what: string, evidence: object): Violation => ({ invariant, what, evidence })
