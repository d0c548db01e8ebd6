import { readWallet } from '../../read-wallet.ts'
import type { ForBook } from '../book-verb.ts'
import { marketsOf } from '../../../handlers/clob/markets.ts'
import { carryOut, doneOf, type Results } from '../../../handlers/clob/submit-actions.ts'
import { madeOrderId } from './made-order-id.ts'
import { placedBefore } from './placed-before.ts'
import { readOrder } from './read-order.ts'
import { showPlaced } from './show-done.ts'

export const placeOrder: ForBook<'OrdersPost'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const wallet = readWallet(request, context)
  const market = (await marketsOf(type, context.venue, at)).find(request.market)
  const clientOrderId = request.clientOrderId ?? madeOrderId(context, 0)
  const before = await placedBefore(type, wallet.address, clientOrderId, context)
  if (before) return before
  const order = await readOrder(type, { ...request, clientOrderId }, market, context, at)
  const answer = (results: Results) => showPlaced(order, doneOf(results.get(0)))
  return answer(await carryOut(type, new Map([[0, { do: 'create', market, order }]]), wallet, context, answer))
}
