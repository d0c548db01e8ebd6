import { groupBy } from '../../checker/known.ts'
import type { Violation } from '../../checker/violation.ts'
import { nameAtExchange, type ExchangeHistory } from '../found.ts'

/** I1: whatever is at the exchange somebody asked for, once; and who was given an order's number finds it there. */
export function placedOnce({ requests, calls, kept }: ExchangeHistory): Violation[] {
  const byName = groupBy(kept, ({ cloid }) => cloid)
  const orders = new Map(requests.filter(({ op }) => op === 'order').map((request) => [nameAtExchange(request), request]))
  const cancelled = new Set(requests.flatMap(({ op, order }) => (op === 'cancel-order' ? (order ?? []) : [])))
  const callsOf = groupBy(calls, ({ request }) => request)
  const found = [...byName].flatMap(([cloid, at]): Violation[] => {
    const request = orders.get(cloid)
    const evidence = { request, at, calls: callsOf.get(request?.id ?? 0) }
    if (!request) return [violation('an order is at the exchange that nobody asked for', evidence)]
    if (at.length > 1) return [violation('an order was placed more than once', evidence)]
    if (at[0]?.status === 'canceled' && !cancelled.has(request.id))
      return [violation('an order was cancelled that nobody wanted cancelled', evidence)]
    return []
  })
  const missing = [...orders].flatMap(([cloid, request]) => {
    const numbered = callsOf.get(request.id)?.find(({ outcome }) => outcome.is === 'answer' && outcome.orderId !== undefined)
    return numbered && !byName.has(cloid) ? [violation('an order that was answered is not at the exchange', { request, numbered })] : []
  })
  return [...found, ...missing]
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I1', what, evidence })
