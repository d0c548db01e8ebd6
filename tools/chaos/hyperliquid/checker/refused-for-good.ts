import { isLastWord } from '../../checker/definite-errors.ts'
import { groupBy } from '../../checker/known.ts'
import type { Violation } from '../../checker/violation.ts'
import { nameAtExchange, type ExchangeHistory } from '../found.ts'

/** I2: what was refused with a definite error is not at the exchange, was not sent there, and never will be. */
export function refusedForGood({ requests, calls, kept, signed, executed, journal }: ExchangeHistory): Violation[] {
  const atExchange = new Set(kept.map(({ cloid }) => cloid))
  const callsOf = groupBy(calls, ({ request }) => request)
  const bytes = signed.filter(({ call = '' }) => call.includes('"orders"'))
  const done = new Map(executed.map((each) => [each.id, each]))
  return requests.flatMap((request) => {
    const own = callsOf.get(request.id) ?? []
    const error = own.find((call) => isLastWord(call, own))
    if (!error) return []
    if (request.op === 'order') {
      const cloid = nameAtExchange(request)
      const found = bytes.filter(({ call = '' }) => call.includes(cloid))
      const evidence = { request, error, calls: own, found }
      if (atExchange.has(cloid)) return [violation('an order is at the exchange after a definite error', evidence)]
      return found.some(({ wasSent }) => wasSent) ? [violation('an order was sent after a definite error', evidence)] : []
    }
    // What the exchange refused to cancel was sent, and nothing came of it.
    const entries = request.inBatch ? [] : journal.filter(({ requestId }) => own.some((call) => call.requestId === requestId))
    const effects = entries.flatMap(({ attempts }) => attempts).filter(({ txHash }) => done.get(txHash)?.ok)
    return effects.length > 0 ? [violation('an order was cancelled after a definite error', { request, error, calls: own, entries })] : []
  })
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I2', what, evidence })
