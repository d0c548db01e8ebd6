import { groupBy } from '../../checker/known.ts'
import type { Violation } from '../../checker/violation.ts'
import type { Call } from '../../history.ts'
import { nameAtExchange, type ExchangeHistory, type KeptOrder } from '../found.ts'
import { ends, nowhere, stateOf } from './states.ts'

/** I3 and I5: an end that was answered is the end that there is, whoever asked; and one key has one answer. */
export function answered({ requests, calls, kept, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Map(kept.map((each) => [each.cloid, each]))
  const byId = new Map(requests.map((request) => [request.id, request]))
  const callsOf = groupBy(calls, ({ request }) => request)
  const neverSigned = new Set(journal.flatMap(({ requestId, attempts }) => (attempts.length === 0 ? [requestId] : [])))
  return requests.flatMap((request) => {
    const order = request.op === 'order' ? request : byId.get(request.order ?? 0)
    if (!order) return []
    const at = atExchange.get(nameAtExchange(order))
    const own = callsOf.get(request.id) ?? []
    const evidence = { request, order, at, calls: own }
    // Given up before it was signed, its id was free, and whoever wanted it asked again.
    const wasGivenUp = (callsOf.get(order.id) ?? []).some(({ requestId }) => neverSigned.has(requestId))
    const wrong = own.flatMap((call) => (wasGivenUp && isFailed(call) ? [] : (wrongIn(call, at) ?? [])))
    const answers = new Set(own.flatMap(({ outcome }) => (outcome.is === 'answer' && outcome.status === 200 ? [outcome.text] : [])))
    const isOne = request.key === undefined || request.inBatch || request.op !== 'order' || answers.size < 2
    return [
      ...wrong.map((what) => violation('I5', what, evidence)),
      ...(isOne ? [] : [violation('I3', 'one key got different answers', evidence)]),
    ]
  })
}

const isFailed = ({ outcome }: Call) => outcome.is === 'answer' && outcome.state === 'FAILED'

function wrongIn({ outcome }: Call, at: KeptOrder | undefined): string | undefined {
  if (outcome.is === 'lost') return undefined
  const { state, orderId } = outcome
  if (orderId !== undefined && orderId !== at?.orderId) return `answered the id ${orderId} where it is ${at?.orderId ?? 'none'}`
  if (state === undefined || !ends.has(state)) return undefined
  const is = at && stateOf(at)
  if (is === undefined) return nowhere.has(state) ? undefined : `answered ${state} of an order that is not at the exchange`
  return state === is ? undefined : `answered ${state} of an order that is ${is}`
}

const violation = (invariant: Violation['invariant'], what: string, evidence: object): Violation => ({ invariant, what, evidence })
