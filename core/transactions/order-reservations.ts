// Client order ids of requests that are on their way into the journal.
import { addressKey } from '../base/addresses.ts'
import { OrderIdUsedError, type OrderVenue } from './book-orders.ts'
import type { Recorder } from './journal/journal.ts'
import type { RoutedRequest } from './submit-request.ts'

/**
 * Reserves a request's client order ids while it is on its way into the journal. Call the returned function to release them.
 * @throws OrderIdUsedError
 */
export type ReserveOrderIds = (request: RoutedRequest) => Promise<() => void>

/**
 * Checks before the chain is asked and nonces are claimed, so that a refusal leaves no nonce gap. The journal checks again, for all servers.
 * @param expireLeftovers frees the ids of entries that are no longer being signed
 */
export function createReserveOrderIds(recorder: Recorder, expireLeftovers: () => Promise<void>): ReserveOrderIds {
  const reserved = new Set<string>()

  return async ({ clientOrders = [], venue, address, network: { chain, network } }) => {
    if (!venue || clientOrders.length === 0) return () => {}
    const { connector } = venue
    const ids = clientOrders.map(({ clientOrderId }) => clientOrderId)
    const names = ids.map((id) => JSON.stringify([connector, addressKey(address), id]))
    const duplicate = names.findIndex((name) => reserved.has(name))
    if (duplicate >= 0) throw new OrderIdUsedError(ids[duplicate] ?? '')
    for (const name of names) reserved.add(name)
    const release = () => {
      for (const name of names) reserved.delete(name)
    }
    try {
      await checkUnused({ chain, network, connector, address }, ids)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  async function checkUnused(venue: OrderVenue, ids: readonly string[]): Promise<void> {
    if ((await recorder.orders.firstUsed(venue, ids)) === undefined) return
    await expireLeftovers()
    const used = await recorder.orders.firstUsed(venue, ids)
    if (used !== undefined) throw new OrderIdUsedError(used)
  }
}
