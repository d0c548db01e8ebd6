// Stands for a node of Solana that has 1,000 pools: `getMultipleAccounts`, compressed, of what the parent lets happen in each slot.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { manyPools, swapped } from '../solana-accounts.ts'
import { serve } from '../child.ts'

interface NodeCall {
  readonly id: number
  readonly method: string
  readonly params: readonly [addresses?: readonly string[], options?: { readonly dataSlice?: { readonly length: number } }]
}

let made: ReturnType<typeof manyPools> | undefined
let slot = 0
let calls = 0

function answerOf({ id, method, params: [addresses = [], { dataSlice } = {}] }: NodeCall) {
  if (method !== 'getMultipleAccounts') return { jsonrpc: '2.0', id, result: 'bench' }
  calls += 1
  const value = addresses.map((address) => {
    const found = made?.accounts.get(dataSlice ? `${address}/${dataSlice.length}` : address)
    if (!found) return null
    const { owner, base64 } = found
    return { data: [base64, 'base64'], executable: false, lamports: 2_039_280, owner, rentEpoch: 18_446_744_073_709_552_000, space: 165 }
  })
  return { jsonrpc: '2.0', id, result: { context: { apiVersion: '3.0.0', slot }, value } }
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const asked: NodeCall | readonly NodeCall[] = JSON.parse(Buffer.concat(parts).toString())
  const answer = Array.isArray(asked) ? asked.map(answerOf) : answerOf(asked as NodeCall)
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(answer)))
}

const server = createServer((request, response) => void take(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')

export type SolanaNodeProcess = typeof handlers
const handlers = serve({
  port: () => (server.address() as AddressInfo).port,
  /** So many pools are there, in a slot. */
  hold(count: number) {
    made = manyPools(count)
    return made.accounts.size
  },
  /** A slot passes. Returns how many calls the one before it had. */
  pass(next: { readonly slot: number; readonly changed: number }) {
    if (!made) throw new Error('There are no pools.')
    slot = next.slot
    for (const [address, after] of swapped(made, next)) made.accounts.set(address, after)
    const had = calls
    calls = 0
    return had
  },
})
