import { once, setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent } from 'undici'
import type { SentBytes } from '../history.ts'
import type { Random } from '../random.ts'

/** One JSON-RPC call of a request. */
export interface RpcCall {
  id: unknown
  method: string
  params: readonly unknown[]
}

/** A request from a server to its node, as a fault handles it. */
export interface Exchange {
  calls: readonly RpcCall[]
  isBatch: boolean
  /** Among the calls is one that sends a transaction. */
  sends: boolean
  request: IncomingMessage
  response: ServerResponse
  random: Random
  /** Aborted when the fault is over: what hangs may be let go. */
  over: AbortSignal
  /** Delivers calls to the node (these, where none are given) and gives the answers in their order. */
  deliver(calls?: readonly RpcCall[]): Promise<unknown[]>
  /** Answers the server. */
  answer(answers: readonly unknown[]): void
}

type Fault = (exchange: Exchange) => unknown

export interface Trouble {
  fault: Fault
  /** How many of the requests that send a transaction have it, and how many of the others: 0 to 1. */
  ofSends: number
  ofOthers: number
}

export interface FaultProxy {
  url: string
  /** Everything that the servers sent, whatever became of it. */
  sent: readonly SentBytes[]
  /** How many requests had the fault. */
  faults: number
  /** Requests by which servers look for transactions, and by which they make some: how many there were, and how many have no answer yet. */
  acts: { begun: number; underWay: number }
  /** From now on requests have this trouble, each by chance; without one all is well. */
  become(trouble?: Trouble): void
  stop(): Promise<void>
}

/** What is asked of every block while something is open, and what follows from a block. */
const actMethods: ReadonlySet<string> = new Set([
  'eth_getBlockTransactionCountByHash',
  'eth_getTransactionReceipt',
  'eth_estimateGas',
  'eth_sendRawTransaction',
])
const json = { 'content-type': 'application/json' }

interface ProxyOptions {
  /** Where the node is now. */
  target: () => string
  /** How a transaction is sent: the method, and what its first parameter means, as hexadecimal digits. */
  sending: { method: string; rawOf: (param: unknown) => string }
  random: Random
  clock: () => number
}

/** Stands between the servers and their node. What it does follows from the seed and the order in which requests come. */
export async function startFaultProxy({ target, sending, random, clock }: ProxyOptions): Promise<FaultProxy> {
  const agent = new Agent({ connections: 64 })
  const sent: SentBytes[] = []
  let current: (Trouble & { over: AbortController }) | undefined
  let count = 0

  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))

  async function post(payload: unknown): Promise<unknown> {
    const { origin } = new URL(target())
    const { body } = await agent.request({ origin, path: '/', method: 'POST', headers: json, body: JSON.stringify(payload) })
    return body.json()
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const parsed: unknown = JSON.parse(Buffer.concat(parts).toString())
    const calls = [parsed].flat().map(readCall)
    const sendings = calls.filter(({ method }) => method === sending.method)
    if (calls.some(({ method }) => actMethods.has(method))) {
      proxy.acts.begun += 1
      proxy.acts.underWay += 1
      response.once('close', () => void (proxy.acts.underWay -= 1))
    }
    for (const { params } of sendings) sent.push({ at: clock(), raw: sending.rawOf(params[0]) })

    const isBatch = Array.isArray(parsed)
    const answer = (answers: readonly unknown[]) => {
      if (!response.writableEnded) response.writeHead(200, json).end(JSON.stringify(isBatch ? answers : answers[0]))
    }
    const deliver = async (asked: readonly RpcCall[] = calls) => {
      const answers = await post(isBatch ? asked.map(withVersion) : withVersion(asked[0]))
      return isBatch ? sortedLike(asked, [answers].flat()) : [answers]
    }
    count += 1
    const own = random.fork(count)
    const sends = sendings.length > 0
    const share = sends ? current?.ofSends : current?.ofOthers
    if (!current || !own.chance(share ?? 0)) return answer(await deliver())
    proxy.faults += 1
    await current.fault({ calls, isBatch, sends, request, response, random: own, over: current.over.signal, deliver, answer })
  }

  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${address.port}`,
    sent,
    faults: 0,
    acts: { begun: 0, underWay: 0 },
    become(trouble) {
      current?.over.abort()
      const over = new AbortController()
      // Every request that waits listens.
      setMaxListeners(0, over.signal)
      current = trouble && { ...trouble, over }
    },
    async stop() {
      current?.over.abort()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await agent.destroy()
    },
  }
  return proxy
}

function readCall(call: unknown): RpcCall {
  const params: unknown = Reflect.get(Object(call), 'params')
  return {
    id: Reflect.get(Object(call), 'id'),
    method: String(Reflect.get(Object(call), 'method')),
    params: Array.isArray(params) ? params : [],
  }
}

const withVersion = (call: RpcCall | undefined) => ({ jsonrpc: '2.0', ...call })

function sortedLike(calls: readonly RpcCall[], answers: readonly unknown[]): unknown[] {
  const byId = new Map(answers.map((each) => [Reflect.get(Object(each), 'id'), each]))
  return calls.map(({ id }) => byId.get(id))
}
