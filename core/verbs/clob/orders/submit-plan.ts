import type { BookSet } from '../../../api/index.ts'
import type { BookAction } from '../../../contracts/index.ts'
import type { ClientOrder } from '../../../transactions/book-orders.ts'
import type { Submitted } from '../../../transactions/submit-request.ts'
import { withMeaning } from '../../../handlers/explain-errors.ts'
import { withListedNames } from '../../listed-names.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'
import { aboutCancels, aboutOrder } from './about-order.ts'
import type { BookContext, Wallet } from '../../../handlers/clob/submit-actions.ts'
import type { Planned } from './plan-actions.ts'

/** @param answer absent: nothing is kept under the request's Idempotency-Key with this one */
export async function submitPlan(
  type: BookSet,
  { covers, plan }: Planned,
  actions: ReadonlyMap<number, BookAction>,
  wallet: Wallet,
  context: BookContext,
  answer: ((submitted: Submitted) => object) | undefined,
): Promise<Submitted> {
  const { network, venue, services, signal, keyed, ...call } = context
  const clientOrders: ClientOrder[] = []
  const cancels: (BookAction & { do: 'cancel' })[] = []
  for (const [index, place] of covers.entries()) {
    const action = actions.get(place)
    if (action?.do === 'cancel') cancels.push(action)
    if (action?.do !== 'create') continue
    const { market, order } = action
    clientOrders.push({ clientOrderId: order.clientOrderId, type, market: nameOf(market), index, about: aboutOrder(order, keyed?.tag) })
  }
  const submitted = services.transactions.submit(
    {
      ...call,
      ...wallet,
      network,
      venue,
      plan,
      // Orders send none of the native coin.
      scope: { contracts: venue.contracts, valueRaw: 0n },
      kind: clientOrders.length > 0 ? 'order' : 'order-cancel',
      about: cancels.length > 0 ? aboutCancels(type, cancels) : null,
      ...(clientOrders.length > 0 && { clientOrders }),
      ...(answer && keyed && { keyed }),
      answer: answer ?? (() => ({})),
    },
    signal,
  )
  return withMeaning(withListedNames(submitted, network), venue)
}
