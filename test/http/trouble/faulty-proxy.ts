import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { NodeErrorRow } from '../../fixtures/node-errors.ts'

/** What stands between a server and its node, and what it makes of the node's answers. */
export interface FaultyProxy {
  port: number
  /** The node. */
  target: string
  /** What happens to a request, on new connections, as after a failover; settles when the clients' ends are gone too. */
  become(fault: Fault): Promise<void>
  /** Methods that were asked for, in order. */
  asked: string[]
  stop(): Promise<void>
}

export type Fault = (exchange: {
  methods: readonly string[]
  calls: readonly Call[]
  request: IncomingMessage
  response: ServerResponse
  /** @param instead what the node is asked in place of the calls, one for each */
  answer(instead?: readonly Call[]): Promise<string>
}) => unknown

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

const json = { 'content-type': 'application/json' }

export const healthy: Fault = async ({ response, answer }) => response.writeHead(200, json).end(await answer())

/** Whatever nodes do on bad days. `secret` is what they quote back. */
export const faults = (secret: string): Readonly<Record<string, Fault>> => ({
  'is away': ({ request }) => request.socket.destroy(),
  'does not answer': () => {},
  'is over its limit': ({ response }) =>
    response.writeHead(429, { ...json, 'retry-after': '1' }).end(`{"error":"too many requests for ${secret}"}`),
  'says so by JSON-RPC': ({ response }) =>
    response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit of ${secret} exceeded"}}`),
  'serves another chain': async ({ methods, response, answer }) =>
    response.writeHead(200, json).end(methods.includes('eth_chainId') ? (await answer()).replaceAll('0x7a69', '0x1') : await answer()),
  'answers garbage': ({ response }) => response.writeHead(200, json).end(Buffer.from([0, 1, 2, 255, 254, 123])),
  'answers half of the JSON': async ({ response, answer }) => response.writeHead(200, json).end((await answer()).slice(0, -7)),
  'answers a web page': ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>Welcome ${secret}</html>`),
  'closes in the middle of an answer': async ({ response, answer }) => {
    const text = await answer()
    response.writeHead(200, { ...json, 'content-length': String(text.length + 100) }).write(text)
    setTimeout(() => response.destroy(), 20)
  },
  fails: ({ response }) => response.writeHead(502, json).end(`{"error":"bad gateway ${secret}"}`),
  'refuses the key': ({ response }) =>
    response.writeHead(401, json).end(`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"invalid key ${secret}"}}`),
  'quotes the headers of the request': async ({ request, response, answer }) => {
    const headers = JSON.stringify(request.headers)
    const refuse = ({ id }: { id: number }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: -32000, message: `denied: ${headers}`, data: headers },
    })
    const answers: unknown = JSON.parse(await answer())
    const refused = Array.isArray(answers) ? answers.map(refuse) : refuse(Object(answers))
    response.writeHead(200, json).end(JSON.stringify(refused))
  },
  redirects: ({ response }) => response.writeHead(302, { location: `http://127.0.0.1:1/${secret}` }).end(),
  'answers an empty list': ({ response }) => response.writeHead(200, json).end('[]'),
  'answers every call twice': async ({ response, answer }) => {
    const answers = [JSON.parse(await answer())].flat()
    response.writeHead(200, json).end(JSON.stringify([...answers, ...answers]))
  },
  'answers null to everything': ({ methods, response }) =>
    response.writeHead(200, json).end(JSON.stringify(methods.map((_, index) => ({ jsonrpc: '2.0', id: index, result: null })))),
  'answers errors that quote the key': async ({ response, answer }) => {
    const answers: unknown = JSON.parse(await answer())
    const failed = [answers]
      .flat()
      .map((each) => ({ jsonrpc: '2.0', id: Reflect.get(Object(each), 'id'), error: { code: -32000, message: `not for ${secret}` } }))
    response.writeHead(200, json).end(JSON.stringify(Array.isArray(answers) ? failed : failed[0]))
  },
})

/** Some calls are refused, as providers do what they will not do for everybody; the others of a batch are answered. */
export const refusing = (isRefused: (call: Call) => boolean, error: { code: number; message: string }): Fault =>
  telling((call) => (isRefused(call) ? { error } : undefined))

/** Some calls are answered by the proxy itself, the others of a batch by the node. */
export const telling =
  (own: (call: Call) => { result: unknown } | { error: { code: number; message: string } } | undefined): Fault =>
  async ({ calls, response, answer }) => {
    const answers: unknown = JSON.parse(await answer())
    const told = [answers].flat().map((each, index) => {
      const call = calls[index]
      const said = call && own(call)
      return said ? { jsonrpc: '2.0', id: Reflect.get(Object(each), 'id'), ...said } : each
    })
    response.writeHead(200, json).end(JSON.stringify(Array.isArray(answers) ? told : told[0]))
  }

/** It takes what is sent, and loses it: the hash of the bytes is all that comes of it. */
export const losingSends: Fault = async ({ calls, response, answer }) => {
  const asked = calls.map((call) => (call.method === 'eth_sendRawTransaction' ? { ...call, method: 'web3_sha3' } : call))
  response.writeHead(200, json).end(await answer(asked))
}

/** In its newest block a contract refuses whatever it is asked, with words. In all others it is as it is. */
export const lyingAtNewest =
  (contract: string, { target }: Pick<FaultyProxy, 'target'>): Fault =>
  async ({ calls, response, answer }) => {
    // Reverts with 32 bytes.
    const code = '0x600160005260206000fd'
    const isOfNewest = ({ method, params }: Call) => method === 'eth_call' && params[1] === 'latest'
    const asked = calls.map((call) => (isOfNewest(call) ? { ...call, params: [...call.params, { [contract]: { code } }] } : call))
    const text = await answer()
    if (!calls.some(isOfNewest)) return response.writeHead(200, json).end(text)
    const found = await fetch(target, { method: 'POST', headers: json, body: JSON.stringify(text.startsWith('[') ? asked : asked[0]) })
    return response.writeHead(200, json).end(await found.text())
  }

/** Some calls are answered by a row of the table, alone with its status, the others by the node. */
export const saying =
  (rowFor: (method: string) => NodeErrorRow | undefined): Fault =>
  async ({ calls, response, answer }) => {
    const answers: unknown = JSON.parse(await answer())
    const rows = calls.map(({ method }) => (method === 'eth_chainId' ? undefined : rowFor(method)))
    const told = [answers].flat().map((each, index) => {
      const row = rows[index]
      if (!row) return each
      const { code, message, data } = row
      return {
        jsonrpc: '2.0',
        id: Reflect.get(Object(each), 'id'),
        error: { ...(!Number.isNaN(code) && { code }), message, ...(data !== undefined && { data }) },
      }
    })
    const status = calls.length === 1 ? (rows[0]?.status ?? 200) : 200
    response.writeHead(status, json).end(JSON.stringify(Array.isArray(answers) ? told : told[0]))
  }

/** One row answers all calls of a request: as an object, as a list of it alone, or as a page for people. */
export const sayingOfAll =
  ({ code, message, data }: NodeErrorRow, { status, asPage, asList }: { status: number; asPage: boolean; asList: boolean }): Fault =>
  ({ response }) => {
    if (asPage) return response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><body>${message}</body></html>`)
    const told = { jsonrpc: '2.0', id: null, error: { ...(!Number.isNaN(code) && { code }), message, ...(data !== undefined && { data }) } }
    return response.writeHead(status, json).end(JSON.stringify(asList ? [told] : told))
  }

export async function startFaultyProxy(): Promise<FaultyProxy> {
  let fault = healthy
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  // Whoever asks closes what is idle: a connection that the proxy closed would make it ask for the chain again.
  server.keepAliveTimeout = 0

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts).toString()
    const parsed: Call | readonly Call[] = JSON.parse(body)
    const calls = [parsed].flat()
    const methods = calls.map(({ method }) => method)
    proxy.asked.push(...methods)
    await fault({
      methods,
      calls,
      request,
      response,
      async answer(instead) {
        const asked = instead && JSON.stringify(Array.isArray(parsed) ? instead : instead[0])
        return (await fetch(proxy.target, { method: 'POST', headers: json, body: asked ?? body })).text()
      },
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  const proxy: FaultyProxy = {
    port: address.port,
    target: '',
    async become(next) {
      fault = next
      server.closeAllConnections()
      await sleep(50)
      // A loop that was held up comes to its timers before it comes to its sockets, and in the turn after that all are closed.
      await setImmediate()
      await setImmediate()
    },
    asked: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
