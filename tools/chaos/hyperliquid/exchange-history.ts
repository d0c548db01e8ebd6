import { cloidOf } from '../../../plugins/hyperliquid/orders.ts'
import { fromSize } from '../../hyperliquid-simulator/exchange/amounts.ts'
import type { OrderStatus } from '../../hyperliquid-simulator/exchange/book.ts'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import { bounded } from '../ask.ts'
import { orderIdOf } from '../checker/orders.ts'
import type { History, Request } from '../history.ts'
import type { Stage } from '../stage.ts'
import type { ExecutedAction, ToldBook } from './between.ts'
import { markets, termsOf } from './messages.ts'
import type { ShownBook } from './watch-books.ts'

/** An order as the exchange has it, be it that it refused it. */
export interface KeptOrder {
  wallet: string
  cloid: string
  orderId: string
  status: OrderStatus
  amount: string
  filled: string
}

/** All that is known of a run on Hyperliquid at its end. */
export interface ExchangeHistory extends History {
  /** Every order of the wallets at the exchange. */
  kept: readonly KeptOrder[]
  /** As the server lists them, and as it tells of some by name. */
  told: readonly ToldOrder[]
  toldByName: readonly ToldOrder[]
  executed: readonly ExecutedAction[]
  books: { told: readonly ToldBook[]; shown: readonly ShownBook[]; atEnd: readonly { market: string; shown: string; is: string }[] }
  /** What does not add up at the exchange. */
  wrongSums: readonly string[]
}

export function keptOrders({ engine }: HyperliquidExchange, wallets: readonly string[]): KeptOrder[] {
  return wallets.flatMap((wallet) =>
    (engine.accounts.get(wallet.toLowerCase())?.orders ?? []).map(({ cloid = '', oid, status, origSz, sz }) => ({
      wallet,
      cloid,
      orderId: String(oid),
      status,
      amount: plain(fromSize(origSz)),
      filled: plain(fromSize(origSz - sz)),
    })),
  )
}

const plain = (decimal: string) => decimal.replace(/\.0$/, '')

/** By what the exchange knows the order of a request. */
export const nameAtExchange = ({ id, wallet }: Pick<Request, 'id' | 'wallet'>): string =>
  cloidOf({ chain: 'hyperliquid', network: 'testnet', user: wallet.toLowerCase() }, orderIdOf({ id }))

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
