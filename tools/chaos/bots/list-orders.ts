import { parseEther } from 'ethers'
import type { ToldOrder } from '../history.ts'
import type { Stage } from '../stage.ts'
import { bounded } from './bounded.ts'

/** Every order that the server lists of the wallets. */
export async function listOrders(stage: Stage): Promise<ToldOrder[]> {
  const told: ToldOrder[] = []
  for (const wallet of stage.wallets) {
    let cursor: string | undefined
    do {
      const { client } = await stage.someServer()
      const query = { ...stage.place, connector: 'oasis', address: wallet, limit: '500', ...(cursor !== undefined && { cursor }) }
      const { status, body, text } = await bounded(client.get('/clob/orders', query))
      if (status !== 200) throw new Error(`/clob/orders answered ${status}: ${text}`)
      for (const { clientOrderId, orderId, side, state, filledAmount } of body.orders)
        if (clientOrderId !== undefined)
          told.push({ wallet, clientOrderId, side, state, filledRaw: parseEther(filledAmount), ...(orderId !== undefined && { orderId }) })
      cursor = body.nextCursor
    } while (cursor !== undefined)
  }
  return told
}
