import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A real server of HTTP that messages are posted to. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly ReceivedRequest[]
  /** How it answers from now on; 200 at first. */
  answerBy(answer: (request: IncomingMessage, response: ServerResponse) => void): void
  /** The body of the first message that fits, once it is there. */
  message(fits: (body: Record<string, unknown>) => boolean, withinMs?: number): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  const ok = (_: IncomingMessage, response: ServerResponse): void => void response.writeHead(200).end('ok')
  let answer = ok
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answerBy: (next) => (answer = next),
    async message(fits, withinMs = 60_000) {
      for (const until = performance.now() + withinMs; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
        const found = received.map(({ body }) => (body === '' ? {} : (JSON.parse(body) as Record<string, unknown>))).find(fits)
        if (found) return found
        if (performance.now() > until)
          throw new Error(`no such message came; these did: ${received.map(({ method, body }) => `${method} ${body}`).join('\n')}`)
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
