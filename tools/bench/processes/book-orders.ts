// Bots that place orders by Sluice, and a program that places the same by the exchange's client library with the keys in hand.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Wallet } from 'ethers'
import { Client } from 'undici'
import { newTrader } from '../../hyperliquid-simulator/client.ts'
import { serve } from '../child.ts'
import { inTurns } from '../measuring.ts'

export interface OrdersRun {
  url: string
  certsDir: string
  addresses: readonly string[]
  connections: number
  orders: number
}

export interface LibraryOrdersRun {
  apiUrl: string
  testnet: boolean
  /** How many of the program's own wallets place. */
  wallets: number
  inFlight: number
  orders: number
}

const mostWallets = 3
const keys = Array.from({ length: mostWallets }, () => Wallet.createRandom())
/** Of HYPE-USDC, below what anybody sells for: it rests. */
const [asset, price, amount] = [10_107, '39', '1']
let last = 0

export type BookOrdersProcess = typeof handlers
const handlers = serve({ addresses: () => keys.map(({ address }) => address), place, library })

async function place({ url, certsDir, addresses, connections, orders }: OrdersRun) {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const connect = { ca: read('ca_cert.pem'), cert: read('client_cert.pem'), key: read('client_key.pem') }
  const clients = Array.from({ length: connections }, () => new Client(url, { connect }))
  const measured = await inTurns(clients, orders, async (client, index) => {
    const order = {
      chain: 'hyperliquid',
      network: 'testnet',
      connector: 'hyperliquid',
      address: addresses[index % addresses.length],
      market: 'HYPE-USDC',
      side: 'BUY',
      orderType: 'LIMIT',
      price,
      amount,
      clientOrderId: `bench-${(last += 1)}`,
    }
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await client.request({ method: 'POST', path: '/clob/orders', headers, body: JSON.stringify(order) })
    const text = await body.text()
    // The figure is worth nothing when answers are errors, or when nobody knows yet what became of an order.
    if (statusCode !== 200 || !text.includes('"state":"OPEN"')) throw new Error(`answered ${statusCode}: ${text}`)
  })
  await Promise.all(clients.map((client) => client.close()))
  return measured
}

/** With an id of the program's own, as Sluice has one for each. */
async function library({ apiUrl, testnet, wallets, inFlight, orders }: LibraryOrdersRun) {
  const traders = keys.slice(0, wallets).map((key) => newTrader({ apiUrl, testnet }, key))
  const clients = Array.from({ length: inFlight }, (_, index) => traders[index % traders.length]?.exchange)
  const cpu = process.cpuUsage()
  const measured = await inTurns(clients, orders, async (client) => {
    const c = `0x${randomBytes(16).toString('hex')}` as const
    await client?.order({ orders: [{ a: asset, b: true, p: price, s: amount, r: false, t: { limit: { tif: 'Gtc' } }, c }] })
  })
  const { user, system } = process.cpuUsage(cpu)
  return { ...measured, cpuMs: (user + system) / 1000 / orders }
}
