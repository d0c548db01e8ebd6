import { formatEther, formatUnits } from 'ethers'
import { orderIdOf } from '../checker/orders.ts'
import type { Request } from '../history.ts'

/** What is sent, but for the network. */
export interface Message {
  method: 'POST' | 'DELETE'
  path: string
  body: object
}

/** How requests are written. */
export interface Messages {
  one(request: Request): Message
  /** Several orders at once, and at most one that is to be cancelled. */
  together(requests: readonly Request[]): Message
}

export const post = (path: string, body: object): Message => ({ method: 'POST', path, body })

const book = { connector: 'oasis', market: 'WETH-USDC' }

function messageOf(request: Request): Message {
  const { id, op, wallet: address, connector = 'uniswap', token, order, valueRaw = 0n } = request
  if (op === 'cancel') return post('/evm/cancel', { address })
  if (op === 'speedUp') return post('/evm/speedUp', { address })
  if (op === 'create-token') return post('/altchain/create-token', { address, tokenSymbol: token })
  if (op === 'order') return post('/clob/orders', { ...book, address, ...orderOf(request) })
  if (op === 'cancel-order')
    return { method: 'DELETE', path: '/clob/orders', body: { ...book, address, clientOrderId: orderIdOf({ id: order ?? 0 }) } }
  const perp = { connector: 'perp', address }
  if (op === 'deposit' || op === 'withdraw') return post(`/perpAMM/${op}`, { ...perp, token: 'USDC', amount: formatUnits(valueRaw, 6) })
  const market = { base: 'ETH', quote: 'USD' }
  if (op === 'close') return post('/perpAMM/close', { ...perp, ...market })
  const amount = formatEther(valueRaw)
  if (connector !== 'perp') return post('/amm/trade', { connector, address, base: 'ETH', quote: 'USDC', amount, side: 'SELL' })
  // Up and down, so that some open, some reduce, and some turn what is there.
  return post('/perpAMM/open', { ...perp, ...market, amount, side: id % 3 === 0 ? 'LONG' : 'SHORT', margin: '10', leverage: '5' })
}

function batchOf(requests: readonly Request[]): Message {
  const { market, connector } = book
  const [first] = requests
  const cancel = requests.flatMap(({ op, order = 0 }) =>
    op === 'cancel-order' ? [{ market, clientOrderId: orderIdOf({ id: order }) }] : [],
  )
  const create = requests.flatMap((request) => (request.op === 'order' ? [{ market, ...orderOf(request) }] : []))
  return post('/clob/batchOrders', { connector, address: first?.wallet, create, cancel })
}

/** To the exchanges of the devnet. */
export const devnetMessages: Messages = { one: messageOf, together: batchOf }

/** Around one price, so that some meet and some rest. */
function orderOf({ id, valueRaw = 0n }: Request): object {
  const order = { side: id % 2 === 0 ? 'BUY' : 'SELL', amount: formatEther(valueRaw), clientOrderId: orderIdOf({ id }) }
  return id % 7 === 0 ? { ...order, orderType: 'MARKET' } : { ...order, orderType: 'LIMIT', price: String(2990 + ((id * 13) % 21)) }
}
