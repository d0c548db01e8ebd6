// One client with many connections, each of which always has a request under way. What it is told does not matter here.
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'
import { Client } from 'undici'
import { serve } from '../child.ts'
import { newQuotes, quotePath } from '../quote-path.ts'

const [certsDir = '', name = ''] = process.argv.slice(2)
const read = (file: string) => readFileSync(path.join(certsDir, file))
const connect = { ca: read('ca_cert.pem'), cert: read(`${name}_cert.pem`), key: read(`${name}_key.pem`) }

const atOnce = 50
let clients: Client[] = []
let isAsking = false
const answered = { ok: 0, refused: 0, lost: 0 }

export type CrowdProcess = typeof handlers
const handlers = serve({
  async connect({ url, connections }: { url: string; connections: number }) {
    clients = Array.from({ length: connections }, () => new Client(url, { connect }))
    // No more at once than a busy machine can do in time.
    for (let first = 0; first < connections; first += atOnce)
      await Promise.all(clients.slice(first, first + atOnce).map((client) => ask(client, quotePath(0))))
  },
  start(): void {
    // It may not keep the processors from whom it is measured against: what is compared is the server's order.
    setPriority(19)
    isAsking = true
    for (const client of clients) void keepAsking(client)
  },
  /** What was answered since this was last asked. */
  take() {
    const taken = { ...answered }
    Object.assign(answered, { ok: 0, refused: 0, lost: 0 })
    return taken
  },
  async stop() {
    isAsking = false
    await Promise.all(clients.map((client) => client.destroy()))
  },
})

async function keepAsking(client: Client): Promise<void> {
  while (isAsking) await ask(client, largeQuote())
}

let asked = 0
/** Of an amount that nobody has asked for before, so large that it goes several ways: it costs the server ten times what a small one does. */
const largeQuote = () => newQuotes().replace('{amount}', (200 + (asked += 1) / 1e6).toFixed(6))

async function ask(client: Client, target: string): Promise<void> {
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path: target })
    await body.dump()
    answered[statusCode === 200 ? 'ok' : 'refused'] += 1
  } catch {
    answered.lost += 1
  }
}
