import type { PlacedOrder } from '../submit-request.ts'
import { OrderTaken } from '../orders/order-taken.ts'
import type { Recorder } from '../journal/recorder.ts'

/**
 * Keeps an order's client order ids for it while it is on its way into the journal, until the function that it gives is called.
 * @throws OrderTaken where another has one of them
 */
export type KeepIds = (order: PlacedOrder) => Promise<() => void>

/**
 * Before anything is asked or claimed, so that what is refused leaves no slot empty. The journal itself says so again, of two servers to one.
 * What nobody is signing any more gives its id up first.
 */
export function createKeepIds(recorder: Recorder, giveUpLeftovers: () => Promise<void>): KeepIds {
  const kept = new Set<string>()

  return async ({ clientOrders = [], venue, address, network: { chain, network } }) => {
    if (!venue || clientOrders.length === 0) return () => {}
    const ids = clientOrders.map(({ clientOrderId }) => clientOrderId)
    const names = ids.map((id) => JSON.stringify([venue.connector, address.toLowerCase(), id]))
    const other = names.findIndex((name) => kept.has(name))
    if (other >= 0) throw new OrderTaken(ids[other] ?? '')
    for (const name of names) kept.add(name)
    const leave = () => {
      for (const name of names) kept.delete(name)
    }
    try {
      await checkUnused({ chain, network, connector: venue.connector, address }, ids)
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async function checkUnused(on: Parameters<Recorder['orders']['taken']>[0], ids: readonly string[]): Promise<void> {
    if ((await recorder.orders.taken(on, ids)) === undefined) return
    await giveUpLeftovers()
    const used = await recorder.orders.taken(on, ids)
    if (used !== undefined) throw new OrderTaken(used)
  }
}
