import { CLOBBatchOrdersRequest, type BookSet } from '../../../api/index.ts'
import type { BookAction, BookOrder, OrderName } from '../../../contracts/index.ts'
import { fieldsReader } from '../../../handlers/read-fields.ts'
import { nameOf, type Markets } from '../../../handlers/clob/markets.ts'
import { asFields } from './batch-creates.ts'
import { orError, showError, type Entry } from './batch-entry.ts'
import { isUnderWay, nameOnExchange, notYet, refusalOf, showEnded, stop } from '../../../handlers/clob/orders.ts'
import type { BookContext, Results, Wallet } from '../../../handlers/clob/submit-actions.ts'
import { readName, unknownOrder, type FoundOrder } from './find-order.ts'
import { hasEnded } from './order-state.ts'
import { walletOrders } from '../../../handlers/clob/wallet-orders.ts'

const read = fieldsReader(CLOBBatchOrdersRequest.properties.cancel.items)

type Stopped = ReturnType<typeof showEnded> | NonNullable<Awaited<ReturnType<typeof stop>>>
export type CancelEntry = Entry<BookAction & { do: 'cancel' }, Stopped> & { name: OrderName; journaled?: FoundOrder['journaled'] }

/** @param cancel as the caller wrote them: each is judged by itself, by what the journal knows of it */
export async function readCancels(
  type: BookSet,
  cancel: readonly unknown[],
  markets: Markets,
  wallet: Wallet,
  context: BookContext,
): Promise<readonly CancelEntry[]> {
  const orders = walletOrders(type, wallet.address, context)

  async function readOne(written: unknown): Promise<CancelEntry> {
    const fields = read(asFields(written, 'cancel'), 'body')
    const name = readName(fields)
    const market = markets.find(fields.market)
    const [journaled] = await orders.journaled({ ...name, market: nameOf(market), limit: 1 })
    if (!journaled) return { name, action: { do: 'cancel', market, order: name } }
    const found = { journaled, shown: await orders.show(journaled, undefined, false) }
    if (hasEnded(found.shown.state)) return { name, answer: showEnded(found) }
    if (isUnderWay(found)) {
      const stopped = await stop(found, wallet, context)
      if (!stopped) throw notYet()
      return { name, answer: stopped }
    }
    return { name, journaled, action: { do: 'cancel', market, order: { ...name, ...nameOnExchange(found) } } }
  }

  const entries: CancelEntry[] = []
  for (const each of cancel)
    entries.push(await orError(() => readOne(each)).then((entry) => ('error' in entry ? { name: {}, ...entry } : entry)))
  return entries
}

export type CancelTold = ReturnType<typeof showEnded> | (OrderName & { error: ReturnType<typeof showError> })

/**
 * What the exchange did not cancel, by the place of its entry: it may have been filled in between, or never have been there. Where it cannot
 * be asked, what it said against the cancel is all that is told, and no state of the order: the rest of the batch was sent.
 */
export async function afterRefusals(
  type: BookSet,
  cancels: readonly CancelEntry[],
  results: Results,
  wallet: Wallet,
  context: BookContext,
): Promise<ReadonlyMap<number, CancelTold>> {
  const refused = cancels.flatMap((entry, place) => {
    const refusal = 'action' in entry ? refusalOf(results.get(place)) : undefined
    return 'action' in entry && refusal ? [{ entry, action: entry.action, place, refusal }] : []
  })
  const told = new Map<number, CancelTold>()
  if (refused.length === 0) return told
  const orders = walletOrders(type, wallet.address, context)
  // Also where the connector fails by a defect: that something was sent is worth more than what the order ended as.
  const found = await orders
    .onExchange({ names: refused.map(({ action }) => action.order) }, { signal: context.signal })
    .catch((error: unknown) => ({ error }))
  for (const { entry, action, place, refusal } of refused) {
    const { name, journaled } = entry
    if ('error' in found) {
      told.set(place, { ...name, error: showError(refusal) })
      continue
    }
    const exchange = found.find((each) => isOf(each, action))
    const shown = journaled ? await orders.show(journaled, exchange, false) : exchange && orders.showForeign(exchange, false)
    if (shown && hasEnded(shown.state)) told.set(place, showEnded({ shown }))
    else told.set(place, { ...name, error: showError(shown ? refusal : unknownOrder(type, name, wallet.address)) })
  }
  return told
}

const isOf = (order: BookOrder, { market, order: { orderId, clientOrderId } }: BookAction & { do: 'cancel' }) =>
  order.market.id === market.id && (orderId === undefined ? order.clientOrderId === clientOrderId : order.orderId === orderId)
