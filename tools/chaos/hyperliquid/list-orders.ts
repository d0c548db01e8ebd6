import { bounded } from '../bots/bounded.ts'
import type { Stage } from '../stage.ts'
import { markets, termsOf } from './messages.ts'

/** An order as a server tells of it at the end. */
export interface ToldOrder {
  wallet: string
  market: string
  clientOrderId?: string
  orderId?: string
  state: string
  filledAmount: string
}

/** Every order that the server lists of the wallets. */
export async function listOrders(stage: Stage): Promise<ToldOrder[]> {
  const told: ToldOrder[] = []
  for (const wallet of stage.wallets)
    for (const market of markets) {
      let cursor: string | undefined
      do {
        const page = await ask(stage, wallet, market, { limit: '500', ...(cursor !== undefined && { cursor }) })
        told.push(...page.orders)
        cursor = page.nextCursor
      } while (cursor !== undefined)
    }
  return told
}

/** What it says of one of them alone. */
export async function askForOrder(stage: Stage, { wallet, market, clientOrderId = '' }: ToldOrder): Promise<ToldOrder | undefined> {
  return (await ask(stage, wallet, market, { clientOrderId })).orders[0]
}

async function ask(
  stage: Stage,
  wallet: string,
  market: string,
  more: Record<string, string>,
): Promise<{ orders: ToldOrder[]; nextCursor?: string }> {
  const { client } = await stage.someServer()
  const query = { ...stage.place, connector: 'hyperliquid', address: wallet, market, ...more }
  const { status, body, text } = await bounded(client.get(`${termsOf({ market }).root}/orders`, query))
  if (status !== 200) throw new Error(`the orders of ${wallet} were answered ${status}: ${text}`)
  const orders = body.orders.map(({ clientOrderId, orderId, state, filledAmount }: ToldOrder) => ({
    wallet,
    market,
    state,
    filledAmount,
    ...(clientOrderId !== undefined && { clientOrderId }),
    ...(orderId !== undefined && { orderId }),
  }))
  return { orders, ...(body.nextCursor !== undefined && { nextCursor: body.nextCursor }) }
}
