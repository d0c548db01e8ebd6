// Bots: each has one kept-alive connection and sends its next request when it has the last one's answer.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { serve } from '../child.ts'
import { quotePath, quoterCall, requireResult, routerCall } from '../quote-path.ts'
import { percentile } from '../measuring.ts'

export interface Load {
  url: string
  connections: number
  /** Of all connections together. */
  requests: number
  /** Where it stops although requests are left. */
  mostSeconds?: number
  /** How long each connection rests between an answer and its next request. */
  restMs?: number
  /** Asked again and again, with another amount each time where it says `{amount}`; quotes without it, each another. */
  path?: string
  /** Of quotes; of all versions where it is absent. */
  version?: string
  /** A connection for each request, with a whole handshake. */
  fresh?: boolean
}

const [certsDir = '', name = 'client'] = process.argv.slice(2)
const read = (file: string) => readFileSync(path.join(certsDir, file))
const connect = { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }

let amounts = 0
/** That nobody has asked for before. */
const newAmount = () => (1 + (amounts += 1) / 1e9).toFixed(9)

export type LoadProcess = typeof handlers
const handlers = serve({
  run: (load: Load) =>
    bear(
      load,
      () => new Client(load.url, { connect }),
      (client, index) => {
        const path = load.path?.replaceAll('{amount}', newAmount) ?? quotePath(index, load.version)
        return load.fresh ? askAlone(load.url, path) : ask(client, path)
      },
    ),
  /** The exchange's own contracts asked straight at the node: QuoterV2, or the router of v2. */
  askNode: (load: Load) =>
    bear(
      load,
      () => new Client(load.url),
      (client, index) => askNode(client, load.version === 'v2' ? routerCall(index) : quoterCall(index)),
    ),
})

async function bear(
  { connections, requests, mostSeconds = Infinity, restMs = 0 }: Load,
  connected: () => Client,
  ask: (client: Client, index: number) => Promise<void>,
) {
  const clients = Array.from({ length: connections }, connected)
  // Handshakes are not what is measured.
  await Promise.all(clients.map((client) => ask(client, 0)))
  const latenciesMs: number[] = []
  let next = 0
  const startedAt = performance.now()
  const isOver = () => next >= requests || performance.now() - startedAt > mostSeconds * 1000
  await Promise.all(
    clients.map(async (client) => {
      while (!isOver()) {
        const sentAt = performance.now()
        await ask(client, (next += 1))
        latenciesMs.push(performance.now() - sentAt)
        if (restMs > 0) await sleep(restMs)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  await Promise.all(clients.map((client) => client.close()))
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => percentile(latenciesMs, share)) as [number, number, number]
  return { requests: latenciesMs.length, seconds, p50Ms, p95Ms, p99Ms }
}

async function askAlone(url: string, path: string): Promise<void> {
  const client = new Client(url, { connect })
  await ask(client, path)
  await client.close()
}

/** The figure is worth nothing when answers are errors. */
async function ask(client: Client, path: string): Promise<void> {
  const { statusCode, body } = await client.request({ method: 'GET', path })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text}`)
}

async function askNode(client: Client, call: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { body } = await client.request({ method: 'POST', path: '/', headers, body: call })
  requireResult(await body.json())
}
