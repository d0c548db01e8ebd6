import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'

/** One HTTP request. */
export interface NodeRequest {
  calls: readonly { id: number; method: string; params: unknown[] }[]
  /** A batch of one is a list too. */
  batched: boolean
}

export type Behaviour = (asked: NodeRequest, response: ServerResponse) => void

export interface FakeNode {
  url: string
  /** Every method it was asked for, in order. */
  asked: string[]
  requests: number
  behave(behaviour: Behaviour): void
  /** That are open now. */
  connections(): Promise<number>
  /** As a load balancer does; settles when the clients' ends are gone too. */
  dropConnections(): Promise<void>
  close(): Promise<void>
}

/** An outside service with faults: an HTTP server that answers as told. Starts as a healthy node of chain id 1. */
export async function startFakeNode(behaviour: Behaviour = healthy()): Promise<FakeNode> {
  let current = behaviour
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      const batched = Array.isArray(body)
      const calls: NodeRequest['calls'] = batched ? body : [body]
      node.requests += 1
      node.asked.push(...calls.map((call) => call.method))
      current({ calls, batched }, response)
    })
  })
  // Connections end where the client or the test ends them.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The fake node has no port.')
  const node: FakeNode = {
    url: `http://127.0.0.1:${address.port}`,
    asked: [],
    requests: 0,
    behave: (next) => {
      current = next
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((failure, count) => (failure ? reject(failure) : resolve(count)))
      }),
    async dropConnections() {
      server.closeAllConnections()
      await sleep(50)
      // A loop that was held up comes to its timers before it comes to its sockets, and in the turn after that all are closed.
      await setImmediate()
      await setImmediate()
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return node
}

/** A block as nodes give it; half full, so that the next base fee is the same. */
export function fakeBlock(number: number, { hash = number.toString(16).padStart(64, '0'), baseFeeGwei = 1, seconds = number * 12 } = {}) {
  return {
    number: `0x${number.toString(16)}`,
    hash: `0x${hash}`,
    timestamp: `0x${(0x65000000 + seconds).toString(16)}`,
    baseFeePerGas: `0x${(baseFeeGwei * 1e9).toString(16)}`,
    gasUsed: '0xe4e1c0',
    gasLimit: '0x1c9c380',
  }
}

/** Answers every call: its chain id, its only block, and for all else `result`. */
export function healthy({ chainId = 1, result = '0x1' }: { chainId?: number; result?: unknown } = {}): Behaviour {
  return ({ calls, batched }, response) => {
    const answers = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: method === 'eth_chainId' ? `0x${chainId.toString(16)}` : method === 'eth_getBlockByNumber' ? fakeBlock(1) : result,
    }))
    json(response, batched ? answers : answers[0])
  }
}

/** Answers each method as told; the chain id is the local network's. */
export function answering(results: Record<string, unknown>): Behaviour {
  return ({ calls, batched }, response) => {
    const answers = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, ...answerOf({ eth_chainId: '0x7a69', ...results }[method]) }))
    json(response, batched ? answers : answers[0])
  }
}

function answerOf(result: unknown): object {
  return result === undefined ? { error: { code: -32601, message: 'method not found' } } : { result }
}

export function status(code: number, headers: Record<string, string> = {}, body = ''): Behaviour {
  return (_asked, response) => void response.writeHead(code, headers).end(body)
}

export function text(body: string): Behaviour {
  return (_asked, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}

/** Healthy for the chain id, as told for all else. */
export function checked(then: Behaviour, chainId = 1): Behaviour {
  const check = healthy({ chainId })
  return (asked, response) => (asked.calls[0]?.method === 'eth_chainId' ? check : then)(asked, response)
}

export function error(code: number, message = 'no'): Behaviour {
  return ({ calls, batched }, response) => {
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }))
    json(response, batched ? answers : answers[0])
  }
}

export const silent: Behaviour = () => {}
export const hangUp: Behaviour = (_asked, response) => void response.destroy()

export function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
