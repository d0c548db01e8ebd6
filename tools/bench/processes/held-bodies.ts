// Clients that send all of their requests' bodies but the end.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { serve } from '../child.ts'

const [certsDir = '', ...names] = process.argv.slice(2)
const read = (file: string) => readFileSync(path.join(certsDir, file))
const certificates = names.map((name) => ({ ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }))

/** No more at once than a busy machine can do in time. */
const atOnce = 50
let sockets: TLSSocket[] = []
let answers: string[] = []

export type HeldBodiesProcess = typeof handlers
const handlers = serve({
  async connect({ url, connections }: { url: string; connections: number }): Promise<void> {
    const { hostname, port } = new URL(url)
    sockets = []
    for (let first = 0; first < connections; first += atOnce) {
      const next = Array.from({ length: Math.min(atOnce, connections - first) }, (_, index) =>
        connect({ host: hostname, port: Number(port), ...certificates[(first + index) % certificates.length] }),
      )
      for (const socket of next) socket.on('error', () => {}).on('data', (answer: Buffer) => answers.push(String(answer)))
      await Promise.all(next.map((socket) => once(socket, 'secureConnect')))
      sockets.push(...next)
    }
  },
  /** A request on each connection, until all of it has left, and where its body has its end, until all are answered. */
  async send({ announced, sent }: { announced: number; sent: number }): Promise<void> {
    answers = []
    const head = `POST /network/status HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${announced}\r\n\r\n`
    const request = `${head}{"chain":"${' '.repeat(sent - 10)}`
    for (let first = 0; first < sockets.length; first += atOnce)
      await Promise.all(
        sockets.slice(first, first + atOnce).map(
          (socket) =>
            new Promise<void>((resolve) => {
              socket.once('close', () => resolve())
              socket.write(request, () => resolve())
            }),
        ),
      )
    while (announced === sent && answers.length < sockets.length) await sleep(20)
  },
  /** How often each status came. */
  answered(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const answer of answers) {
      const status = answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3)
      counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  },
  async drop(): Promise<void> {
    const closed = sockets.filter((socket) => !socket.closed).map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  },
})
