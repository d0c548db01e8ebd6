import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createJudge, createWeights, answer, typeOf, type ServedExchange, type Endpoint, type HttpAnswer } from './answer.ts'
import { createDriver, type Driver } from './driver.ts'
import { createClock, createEngine } from './engine.ts'
import { createFaults, type Faults } from './faults.ts'
import { createFeed, type Feed } from './feed.ts'
import { defaultRules, type Rules } from './rules.ts'
import { createNonces } from './signing.ts'
import { acceptSockets } from './sockets.ts'

export interface ExchangeOptions extends Partial<Rules> {
  testnet?: boolean
}

/** Hyperliquid as its clients see it, on this machine: a matching engine with its money, behind the same HTTP and websocket protocol. */
export interface HyperliquidExchange extends Driver {
  readonly testnet: boolean
  readonly apiUrl: string
  readonly wsUrl: string
  readonly faults: Faults
  /** Of the websockets. */
  readonly feed: Pick<Feed, 'connections' | 'cut' | 'welcome' | 'silence' | 'tamper'>
  /** What did not fit the client library's schemas so far; it counts no more. */
  takeViolations(): string[]
  /** @throws Error where anything that was said did not fit the schemas that the client library publishes */
  stop(): Promise<void>
}

export async function startExchange({ testnet = false, ...rules }: ExchangeOptions = {}): Promise<HyperliquidExchange> {
  const [clock, judge, faults] = [createClock(), createJudge(), createFaults()]
  const engine = createEngine(testnet, { ...defaultRules, ...rules }, clock)
  const served: ServedExchange = { engine, nonces: createNonces(), judge, weights: createWeights(clock, engine.rules) }
  const feed = createFeed(served)
  const { server, port } = await serveHttp(served, faults, feed.changed)
  acceptSockets(server, feed.isWelcome, feed.serve)
  return {
    ...createDriver(engine, feed.changed),
    testnet,
    apiUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}/ws`,
    faults,
    feed,
    takeViolations: judge.takeViolations,
    stop: async () => {
      feed.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      const [first, ...more] = judge.violations
      if (first) throw new Error(`${more.length + 1} times something did not fit the published schemas, first ${first}`)
    },
  }
}

const mostBytes = 2_000_000

/** The exchange's two addresses, as its clients ask them. */
async function serveHttp(served: ServedExchange, faults: Faults, afterwards: () => void): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    void respond(request, response)
  })
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const endpoint = /^\/(info|exchange)\/?$/.exec(request.url ?? '')?.[1] as Endpoint | undefined
    if (!endpoint || request.method !== 'POST') return send(response, { status: 404, body: 'Not Found' })
    if (!/^application\/([^;]*\+)?json/.test(request.headers['content-type'] ?? ''))
      return send(response, { status: 415, body: 'Expected request with `Content-Type: application/json`' })
    const text = await textOf(request)
    const body = parse(text)
    if (body === unparsable) return send(response, { status: 400, body: 'Failed to parse the request body as JSON' })
    const from = String(request.headers['x-forwarded-for'] ?? request.socket.remoteAddress)
    await faults.carry({
      endpoint,
      type: typeOf(endpoint, body),
      body,
      run: () => {
        const told = answer(served, endpoint, body, from)
        afterwards()
        return told
      },
      send: (told) => send(response, told),
      hangUp: () => void request.socket.destroy(),
    })
  }
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

const unparsable = Symbol('no JSON')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return unparsable
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) throw new Error('a request is larger than any of the exchange')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function send(response: ServerResponse, { status, body }: HttpAnswer) {
  if (response.destroyed) return
  const isText = status !== 200 && typeof body === 'string'
  response
    .writeHead(status, { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json' })
    .end(isText ? body : JSON.stringify(body))
}
