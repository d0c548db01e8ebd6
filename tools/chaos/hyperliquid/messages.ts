import { post, type Message, type Messages } from '../ask.ts'
import { orderIdOf } from '../checker/orders.ts'
import type { Request } from '../history.ts'

const connector = 'hyperliquid'

/** Where orders of a market go, and orders around one price of it, so that some meet and some rest: each worth more than the least of 10 dollars. */
interface Terms {
  root: string
  price(id: number): string
  amount(id: number): string
}

const terms: Readonly<Record<string, Terms>> = {
  'HYPE-USDC': {
    root: '/clob',
    price: (id) => (39.5 + ((id * 13) % 21) * 0.05).toFixed(2),
    amount: (id) => (0.3 + (id % 50) * 0.01).toFixed(2),
  },
  'ETH-USD': {
    root: '/clob/perp',
    price: (id) => String(3980 + ((id * 13) % 21) * 2),
    amount: (id) => (0.003 + (id % 50) * 0.0001).toFixed(4),
  },
}

export const markets: readonly string[] = Object.keys(terms)

export function termsOf({ market = '' }: Pick<Request, 'market'>): Terms {
  const found = terms[market]
  if (!found) throw new Error(`Bots know no market "${market}".`)
  return found
}

/** Orders of every kind that the exchange has, and some that it refuses. */
function orderOf(request: Request): object {
  const { id, market } = request
  const { price, amount } = termsOf(request)
  const order = { market, side: id % 2 === 0 ? 'BUY' : 'SELL', amount: amount(id), clientOrderId: orderIdOf({ id }) }
  const reducing = market === 'ETH-USD' && id % 11 === 0 ? { reduceOnly: true } : {}
  if (id % 7 === 0) return { ...order, ...reducing, orderType: 'MARKET' }
  if (id % 5 === 0) return { ...order, orderType: 'LIMIT_MAKER', price: price(id) }
  return { ...order, ...reducing, orderType: 'LIMIT', price: price(id), ...(id % 9 === 0 && { timeInForce: 'IOC' }) }
}

const cancelOf = ({ market, order = 0 }: Request) => ({ market, clientOrderId: orderIdOf({ id: order }) })

function one(request: Request): Message {
  const { op, wallet: address } = request
  const path = `${termsOf(request).root}/orders`
  if (op === 'order') return post(path, { connector, address, ...orderOf(request) })
  if (op === 'cancel-order') return { method: 'DELETE', path, body: { connector, address, ...cancelOf(request) } }
  throw new Error(`Bots on Hyperliquid do not ${op}.`)
}

function together(requests: readonly Request[]): Message {
  const [first] = requests
  if (!first) throw new Error('A batch has something in it.')
  return post(`${termsOf(first).root}/batchOrders`, {
    connector,
    address: first.wallet,
    create: requests.flatMap((request) => (request.op === 'order' ? [orderOf(request)] : [])),
    cancel: requests.flatMap((request) => (request.op === 'cancel-order' ? [cancelOf(request)] : [])),
  })
}

export const hyperliquidMessages: Messages = { one, together }
