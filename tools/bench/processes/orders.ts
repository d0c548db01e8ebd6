// Bots that trade, and beside them a program that sends transactions which it signed before: each on kept-alive connections of its own.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Transaction, Wallet } from 'ethers'
import { Client } from 'undici'
import { serve } from '../child.ts'
import { inTurns } from '../measuring.ts'

export interface Trades {
  url: string
  certsDir: string
  /** Whose certificate. */
  client?: string
  addresses: readonly string[]
  connections: number
  trades: number
}

export interface RawSends {
  rpcUrl: string
  key: string
  /** A transaction like those that the trades make. */
  like: { to: string; data: string; value: string; gasLimit: string; maxFeePerGas: string; maxPriorityFeePerGas: string; chainId: number }
  connections: number
  sends: number
}

export type OrdersProcess = typeof handlers
const handlers = serve({ trade, sendRaw })

let lastAmount = 0

async function trade({ url, certsDir, client: name = 'client', addresses, connections, trades }: Trades) {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const connect = { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }
  const clients = Array.from({ length: connections }, () => new Client(url, { connect }))
  const measured = await inTurns(clients, trades, (client, index) => {
    lastAmount += 1
    const body = {
      chain: 'ethereum',
      network: 'local',
      connector: 'uniswap',
      address: addresses[index % addresses.length],
      base: 'ETH',
      quote: 'USDC',
      // Each its own question: nothing is remembered for it.
      amount: (0.0001 + lastAmount / 1e9).toFixed(9),
      side: 'SELL',
    }
    return ask(client, '/amm/trade', body)
  })
  await Promise.all(clients.map((client) => client.close()))
  return measured
}

/** Signed before the clock starts. */
async function sendRaw({ rpcUrl, key, like, connections, sends }: RawSends) {
  const wallet = new Wallet(key)
  const clients = Array.from({ length: connections }, () => new Client(rpcUrl))
  const [client] = clients
  if (!client) throw new Error('A program needs a connection.')
  const { result } = await call(client, 'eth_getTransactionCount', [wallet.address, 'pending'])
  const first = Number(result)
  const signed = Array.from({ length: sends }, (_, index) => {
    const tx = Transaction.from({ type: 2, ...like, nonce: first + index })
    tx.signature = wallet.signingKey.sign(tx.unsignedHash)
    return tx.serialized
  })
  const measured = await inTurns(clients, sends, async (each, index) => {
    const answer = await call(each, 'eth_sendRawTransaction', [signed[index]])
    if (typeof answer.result !== 'string') throw new Error(`the node refused: ${JSON.stringify(answer)}`)
  })
  await Promise.all(clients.map((each) => each.close()))
  return measured
}

async function call(client: Client, method: string, params: readonly unknown[]): Promise<{ result?: unknown }> {
  const answer: unknown = JSON.parse(await ask(client, '/', { jsonrpc: '2.0', id: 1, method, params }))
  return typeof answer === 'object' && answer !== null ? answer : {}
}

/** The figure is worth nothing when answers are errors. */
async function ask(client: Client, to: string, content: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const { statusCode, body } = await client.request({ method: 'POST', path: to, headers, body: JSON.stringify(content) })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text}`)
  return text
}
