import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What the relay does with a request to the node: nothing special, answer in its place, or cut the line after or before the node had it. */
export type Meddle = (methods: readonly string[], body: string) => 'pass' | 'cut-after' | 'refuse' | { error: string }

export interface Relay {
  url: string
  meddle: Meddle
  /** Changes what the node has answered. */
  edit?: ((methods: readonly string[], answer: unknown) => unknown) | undefined
  /** HTTP requests that came, as the methods in each. */
  requests: (readonly string[])[]
  /** The bodies of requests that gave the node signed bytes. */
  sends: string[]
  /** How many of them have no answer yet. */
  underWay: number
  stop(): Promise<void>
}

/** Between server and node: a place where answers get lost. */
export async function startRelay(target: string): Promise<Relay> {
  const server = createServer((request, response) => void forward(request, response))
  const relay: Relay = {
    url: '',
    meddle: () => 'pass',
    requests: [],
    sends: [],
    underWay: 0,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts).toString()
    const parsed: unknown = JSON.parse(body)
    const methods = (Array.isArray(parsed) ? parsed : [parsed]).map(({ method }: { method: string }) => method)
    relay.requests.push(methods)
    if (methods.includes('eth_sendRawTransaction')) relay.sends.push(body)
    relay.underWay += 1
    response.once('close', () => void (relay.underWay -= 1))
    const what = relay.meddle(methods, body)
    if (typeof what === 'object') {
      const answerTo = (call: unknown) => ({
        jsonrpc: '2.0',
        id: Reflect.get(Object(call), 'id'),
        error: { code: -32000, message: what.error },
      })
      const answer = Array.isArray(parsed) ? parsed.map(answerTo) : answerTo(parsed)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
      return
    }
    const ask = () => fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => undefined)
    const answer = what === 'refuse' ? undefined : await ask()
    const text = (await answer?.text()) ?? ''
    const edited = relay.edit ? JSON.stringify(relay.edit(methods, JSON.parse(text || 'null'))) : text
    if (answer && what === 'pass') response.setHeader('content-type', 'application/json').end(edited)
    else request.socket.destroy()
  }

  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.')
  relay.url = `http://127.0.0.1:${address.port}`
  return relay
}
