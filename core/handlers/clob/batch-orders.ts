import { badFields, SluiceError, type ErrorName } from '../../api/index.ts'
import type { BookAction } from '../../contracts/index.ts'
import { readWallet } from '../../verbs/read-wallet.ts'
import type { ForBook } from '../../verbs/clob/book-verb.ts'
import { marketsOf } from './markets.ts'
import { afterRefusals, readCancels, type CancelTold } from '../../verbs/clob/orders/batch-cancels.ts'
import { readCreates } from '../../verbs/clob/orders/batch-creates.ts'
import { showEntry } from '../../verbs/clob/orders/batch-entry.ts'
import { carryOut, type Results } from './submit-actions.ts'
import { showCancel, showPlaced } from '../../verbs/clob/orders/show-done.ts'

/** Many orders at once, each with what it came to: what is wrong with one keeps no other from going. */
export const batchOrders: ForBook<'BatchOrders'> = (type) => async (request, context) => {
  const { create = [], cancel = [] } = request
  if (create.length + cancel.length === 0)
    throw badFields([{ field: 'create', problem: 'is empty, and so is cancel: there is nothing to do' }])
  const wallet = readWallet(request, context)
  const markets = await marketsOf(type, context.venue, { signal: context.signal })
  const cancels = await readCancels(type, cancel, markets, wallet, context)
  const creates = await readCreates(type, create, markets, wallet, context)

  // Cancels have the first numbers, as they come first.
  const numberOf = (place: number) => cancels.length + place
  const actions = new Map<number, BookAction>()
  for (const [place, each] of cancels.entries()) if ('action' in each) actions.set(place, each.action)
  for (const [place, each] of creates.entries()) if ('action' in each) actions.set(numberOf(place), each.action)

  const refused = new Map<number, CancelTold>()
  const answer = (results: Results) => ({
    created: creates.map((each, place) =>
      showEntry(each, results.get(numberOf(place)), { clientOrderId: each.clientOrderId }, ({ order }, done) => showPlaced(order, done)),
    ),
    cancelled: cancels.map(
      (each, place) => refused.get(place) ?? showEntry(each, results.get(place), each.name, ({ order }, done) => showCancel(order, done)),
    ),
  })
  // Before the answer is journaled, and again for what was refused with the last submission.
  const askAfterRefusals = async (results: Results) => {
    const news = new Map([...results].filter(([place]) => !refused.has(place)))
    for (const [place, told] of await afterRefusals(type, cancels, news, wallet, context)) refused.set(place, told)
  }
  const results = await carryOut(type, actions, wallet, context, answer, askAfterRefusals)
  requireAny([...creates, ...cancels], results)
  await askAfterRefusals(results)
  return answer(results)
}

const passing: readonly ErrorName[] = ['TIMEOUT', 'NETWORK', 'RATE_LIMIT', 'SERVICE_UNINITIALIZED', 'OVERLOADED']

/**
 * Where nothing came of any entry, for a reason that passes, that is the request's error: it may be repeated with the same key. TIMEOUT before
 * all others, since after that one something may have come of its entry all the same.
 */
function requireAny(entries: readonly object[], results: Results): void {
  const failures = [...results.values()].flatMap((each) => (each instanceof SluiceError ? [each] : []))
  if (failures.length < results.size || entries.some((each) => 'answer' in each)) return
  const passes = passing.flatMap((each) => failures.find(({ name }) => name === each) ?? [])[0]
  if (passes) throw passes
}
