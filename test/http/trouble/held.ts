// Wallets that have something: one holds an order, positions and margin that nobody touches, one moves all the time. The questions about both.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Rpc } from '../../../core/devnet/anvil.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import { coldStore, market, others, pair, perpMarket, proxied, range, traders, type Question } from './questions.ts'

const book = { ...proxied, connector: 'proxybook' }
const perp = { ...proxied, connector: 'proxyperp' }
const swaps = { ...proxied, connector: 'proxyswap' }
const farOrder = { market, side: 'SELL', orderType: 'LIMIT', price: '9000', amount: '0.01' }
const long = { ...perpMarket, amount: '0.01', side: 'LONG', margin: '15', leverage: '5' }
const liquidity = {
  ...swaps,
  token0: 'WETH',
  token1: 'DAI',
  fee: '3000',
  lowerPrice: '1000',
  upperPrice: '5000',
  amount0: '0.001',
  amount1: '4',
}

export interface HeldAssets {
  readonly orderId: string
  readonly clientOrderId: string
  readonly tokenId: string
  readonly pool: string
  /** Of what was sent. */
  readonly txHashes: readonly string[]
}

/** Gives both wallets what they have, while the node is healthy. */
export async function prepareHeld(client: Client): Promise<HeldAssets> {
  async function made(path: string, fields: object): Promise<Answer['body']> {
    const { status, text, body } = await client.post(path, { ...proxied, ...fields })
    if (status !== 200) throw new Error(`${path} ${JSON.stringify(fields)}: ${text}`)
    txHashes.push(body.txHash)
    for (const until = Date.now() + 180_000; ; await sleep(100)) {
      const { body: poll } = await client.get('/network/poll', { ...proxied, txHash: body.txHash })
      if (poll.txStatus === 1 && poll.txReceipt?.status === 1) return { ...body, fill: poll.fill }
      if (Date.now() > until) throw new Error(`${path} ${JSON.stringify(fields)}: ${JSON.stringify(poll)}`)
    }
  }
  const clientOrderId = 'held'
  const txHashes: string[] = []
  let tokenId = ''
  for (const address of [others, traders]) {
    for (const [spender, token] of [
      ['proxybook', 'WETH'],
      ['proxyperp', 'USDC'],
      ['proxyswap/positions', 'WETH'],
      ['proxyswap/positions', 'DAI'],
    ])
      await made('/evm/approve', { address, spender, token })
    await made('/perpAMM/deposit', { ...perp, address, token: 'USDC', amount: '5000' })
    await made('/perpAMM/open', { ...perp, ...long, address })
    tokenId = tokenId || (await made('/amm/liquidity/add', { ...liquidity, address })).fill.tokenId
  }
  await made('/clob/orders', { ...book, ...farOrder, address: others, clientOrderId })
  const pools = await client.get('/amm/pools', pair)
  for (const until = Date.now() + 180_000; ; await sleep(100)) {
    const { body, text } = await client.get('/clob/orders', { ...book, address: others, clientOrderId })
    const { orderId, state } = body.orders?.[0] ?? {}
    if (state === 'OPEN') return { orderId, clientOrderId, tokenId, pool: pools.body.pools[0].pool, txHashes }
    if (Date.now() > until) throw new Error(text)
  }
}

/** @param node past the proxy */
export function heldQuestions({ orderId, clientOrderId, tokenId, pool }: HeldAssets, node: Rpc): readonly Question[] {
  const ofHolder = { ...book, address: others }
  const perpOfHolder = { ...perp, wallet_address: others }
  const ofTraders = { ...proxied, address: traders }
  const isMined = async (txHash: string) => (await node('eth_getTransactionReceipt', txHash)) !== null
  let made = 0

  /** What is asked of a transaction that waits. Where it was mined meanwhile, once more. */
  const ofPending =
    (ask: (client: Client, pending: Answer['body']) => Promise<Answer>): Question[1] =>
    async (client) => {
      for (;;) {
        const pending = await client.post('/evm/wrap', { ...ofTraders, amount: '0.000001' })
        if (pending.status !== 200) return pending
        const answer = await ask(client, pending.body)
        const isGone = answer.status === 404 || answer.status === 409
        if (!isGone || !(await isMined(pending.body.txHash))) return answer
      }
    }

  const open = (client: Client) => client.post('/perpAMM/open', { ...perp, ...long, address: traders })
  let isClosing = false
  /** One at a time: what is closed by another request is a position no more. */
  async function openAndClose(client: Client): Promise<Answer> {
    const opened = await open(client)
    if (opened.status !== 200 || isClosing) return opened
    isClosing = true
    try {
      for (const until = Date.now() + 5_000; Date.now() < until; await sleep(100)) {
        const poll = await client.get('/network/poll', { ...proxied, txHash: opened.body.txHash })
        // Whoever was told of a block gets nothing from before it.
        if (poll.body?.txStatus === 1) return await client.post('/perpAMM/close', { ...perp, ...perpMarket, address: traders })
      }
      return opened
    } finally {
      isClosing = false
    }
  }

  async function placeAndCancel(client: Client): Promise<Answer> {
    const name = `moved-${process.pid}-${(made += 1)}`
    const placed = await client.post('/clob/orders', { ...book, ...farOrder, address: traders, clientOrderId: name })
    if (placed.status !== 200) return placed
    const fields = new URLSearchParams({ ...book, address: traders, market, clientOrderId: name })
    return client.request('DELETE', `/clob/orders?${fields.toString()}`)
  }

  return [
    ['CLOBOrders of a holder', (client) => client.get('/clob/orders', ofHolder)],
    ['CLOBOrders of a holder by id', (client) => client.get('/clob/orders', { ...ofHolder, orderId })],
    ['CLOBOrders of a holder by client id', (client) => client.get('/clob/orders', { ...ofHolder, clientOrderId })],
    ['CLOBOrdersPost and CLOBOrdersDelete of a mover', placeAndCancel],
    ['PerpAMMPosition of a holder', (client) => client.get('/perpAMM/position', { ...perpOfHolder, ...perpMarket })],
    ['PerpAMMMargin of a holder', (client) => client.get('/perpAMM/margin', perpOfHolder)],
    ['PerpAMMFunding of a holder', (client) => client.get('/perpAMM/funding', perpOfHolder)],
    ['PerpAMMBalance of a holder', (client) => client.get('/perpAMM/balance', { ...perp, address: others })],
    ['PerpAMMOpen of a mover', open],
    ['PerpAMMClose of a mover', openAndClose],
    ['PerpAMMDeposit of a mover', (client) => client.post('/perpAMM/deposit', { ...perp, address: traders, token: 'USDC', amount: '1' })],
    ['AMMPool', (client) => client.get('/amm/pool', { ...pair, pool })],
    ['AMMLiquidityPosition of a holder', (client) => client.post('/amm/liquidity/position', { ...swaps, tokenId })],
    ['AMMLiquidityPositions of a holder', (client) => client.get('/amm/liquidity/positions', { ...swaps, address: others })],
    ['AMMLiquidityAdd of a mover', (client) => client.post('/amm/liquidity/add', { ...liquidity, address: traders })],
    ['EVMSend of a mover', (client) => client.post('/evm/send', { ...ofTraders, token: 'ETH', amount: '0.000001', to: coldStore })],
    ['EVMSpeedUp of a mover', ofPending((client, { nonce }) => client.post('/evm/speedUp', { ...ofTraders, nonce }))],
    ['EVMCancel of a mover', ofPending((client, { nonce }) => client.post('/evm/cancel', { ...ofTraders, nonce }))],
    ['EVMUnwrap of a mover', (client) => client.post('/evm/unwrap', { ...ofTraders, amount: '0.000001' })],
    ['Events of blocks and transactions', (client) => listen(client, { ...proxied, topics: 'blocks,transactions' })],
    ['Events of a book', (client) => listen(client, { ...book, topics: 'orderBook', market })],
    ['Events of a price', (client) => listen(client, { ...pair, topics: 'price', side: 'SELL', amount: '0.01' })],
    ['Events of positions', (client) => listen(client, { ...perp, topics: 'positions', address: others, ...perpMarket })],
    ['Events of ranges', (client) => listen(client, { ...range, topics: 'positions', address: others })],
  ]
}

const listenMs = 700

/** A stream of events for a while. What it tells of errors is told as that of the last one. */
async function listen(client: Client, query: Record<string, string>): Promise<Answer> {
  const { token0: _token0, token1: _token1, ...asked } = query
  const incoming = await client.open('/events', asked)
  let text = ''
  incoming.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
  // A stream that is closed by whoever reads it fails here.
  incoming.on('error', () => {})
  if (incoming.statusCode === 200) {
    await sleep(listenMs)
    incoming.destroy()
  } else await new Promise((resolve) => incoming.once('end', resolve))
  const status = incoming.statusCode ?? 0
  if (status !== 200) return { status, headers: incoming.headers, text, body: JSON.parse(text) as unknown }
  const told = [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, data = '{}']): Answer['body'] => JSON.parse(data))
  const failed = told.findLast(({ error }) => error !== undefined)
  const body = { last: told.at(-1), ...(failed && { name: failed.error.name, message: failed.error.message }) }
  return { status: failed ? 503 : 200, headers: incoming.headers, text: JSON.stringify(body), body }
}

/** What of an answer is the same each time, by question. */
export const heldParts: Readonly<Record<string, (body: Answer['body']) => unknown>> = {
  'CLOBOrders of a holder': ordersOf,
  'CLOBOrders of a holder by id': ordersOf,
  'CLOBOrders of a holder by client id': ordersOf,
  'PerpAMMPosition of a holder': ({ position: { positionAmt, positionSide, entryPrice } }) => ({ positionAmt, positionSide, entryPrice }),
  'PerpAMMMargin of a holder': ({ margin: { collateral } }) => collateral,
  'PerpAMMBalance of a holder': ({ balance }) => balance,
  AMMPool: ({ pool, base, quote }) => ({ pool, base, quote }),
  'AMMLiquidityPosition of a holder': ({ tokenId, liquidity: held, lowerPrice }) => ({ tokenId, held, lowerPrice }),
  'AMMLiquidityPositions of a holder': ({ positions }) => positions.map(({ tokenId }: { tokenId: string }) => tokenId),
}

function ordersOf({ orders }: Answer['body']): unknown {
  return orders.map(({ orderId, state, amount, filledAmount }: Record<string, string>) => ({ orderId, state, amount, filledAmount }))
}
