import { createServer } from 'node:http'
import { once } from 'node:events'

/** What the relay does with a request to the node: nothing special, answer in its place, or cut the line after the node had it. */
export type Meddle = (methods: readonly string[]) => 'pass' | 'cut-after' | 'refuse'

export interface Relay {
  url: string
  meddle: Meddle
  /** HTTP requests that came, as the methods in each. */
  requests: (readonly string[])[]
  stop(): Promise<void>
}

/** Between server and node: a place where answers get lost. */
export async function startRelay(target: string): Promise<Relay> {
  const server = createServer((request, response) => void forward(request, response))
  const relay: Relay = {
    url: '',
    meddle: () => 'pass',
    requests: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  async function forward(request: Parameters<Parameters<typeof createServer>[1] & object>[0], response: Parameters<Parameters<typeof createServer>[1] & object>[1]) {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts).toString()
    const parsed: unknown = JSON.parse(body)
    const methods = (Array.isArray(parsed) ? parsed : [parsed]).map(({ method }: { method: string }) => method)
    relay.requests.push(methods)
    const what = relay.meddle(methods)
    if (what === 'refuse') return void request.socket.destroy()
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => undefined)
    if (what === 'cut-after' || !answer) return void request.socket.destroy()
    response.setHeader('content-type', 'application/json').end(await answer.text())
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.')
  relay.url = `http://127.0.0.1:${address.port}`
  return relay
}
