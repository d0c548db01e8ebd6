import { cloidOf } from '../../../plugins/hyperliquid/orders.ts'
import { fromSize } from '../../hyperliquid-simulator/exchange/amounts.ts'
import type { OrderStatus } from '../../hyperliquid-simulator/exchange/book.ts'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import { orderIdOf } from '../checker/orders.ts'
import type { History, Request } from '../history.ts'
import type { ExecutedAction, ToldBook } from './between.ts'
import type { ToldOrder } from './list-orders.ts'
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
