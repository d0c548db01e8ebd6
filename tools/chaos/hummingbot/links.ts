// Lines between bots and a server that fail, and that keep what came over them: what a server wrote is known whatever became of its client.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'

/** A connection of a client to the server, which can fail. */
export interface Link {
  /** Both ends learn that it is gone. */
  cut(): void
  /** From now on nothing comes through but its end: on the way to the server (`up`) or from it (`down`). */
  stall(way: 'up' | 'down'): void
}

export interface Links {
  readonly port: number
  /** That of a client, by the port that it has at its end. */
  of(clientPort: number): Link | undefined
  /** Cuts all that there are. */
  cutAll(): void
  /** The answer to a request, by its id, that the server wrote to a line which stood, whoever read it. */
  answerTo(requestId: string): string | undefined
  stop(): void
}

/** What both ends know each other by. */
export interface LinkFiles {
  readonly ca: Buffer
  readonly client: { readonly cert: Buffer; readonly key: Buffer }
  readonly server: { readonly cert: Buffer; readonly key: Buffer }
}

/** What a server writes so long after the end of its client has reached its system it knows to be lost. */
const lateMs = 1_000

/** @param target the port of the server now; undefined while there is none */
export async function startLinks(target: () => number | undefined, { ca, client, server }: LinkFiles): Promise<Links> {
  const links = new Map<number, Link>()
  const answers = new Map<string, string>()
  const secureContext = tls.createSecureContext({ ca, ...server, sessionIdContext: 'links' })
  const listener = net.createServer((raw) => {
    const clientPort = raw.remotePort ?? 0
    const to = target()
    raw.on('error', () => {})
    if (to === undefined) return void raw.destroy()
    const near = new tls.TLSSocket(raw, { isServer: true, requestCert: true, secureContext }).on('error', () => {})
    const far = tls.connect({ host: '127.0.0.1', port: to, servername: 'localhost', ca, ...client }).on('error', () => {})
    const keep = createReader((requestId, body) => answers.set(requestId, body))
    let [isOpen, stalledUp, stalledDown] = [false, false, false]
    far.once('secureConnect', () => (isOpen = true))
    let endedAt = Number.POSITIVE_INFINITY
    const end = () => {
      endedAt = Math.min(endedAt, performance.now())
      if (isOpen) far.end()
      // What waits for the handshake is sent by nobody any more.
      else far.destroy()
    }
    links.set(clientPort, {
      cut() {
        raw.resetAndDestroy()
        end()
      },
      stall(way) {
        if (way === 'up') stalledUp = true
        else stalledDown = true
      },
    })
    near.on('data', (data: Buffer) => stalledUp || far.write(data))
    near.on('end', end)
    near.on('close', end)
    // What the server wrote before it learns that the client is gone still arrives here.
    far.on('data', (data: Buffer) => {
      if (performance.now() - endedAt < lateMs) keep(data)
      if (!stalledDown && !near.destroyed) near.write(data)
    })
    far.on('close', () => {
      near.destroySoon()
      links.delete(clientPort)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('The links have no port.')
  return {
    port: address.port,
    of: (clientPort) => links.get(clientPort),
    cutAll() {
      for (const link of links.values()) link.cut()
    },
    answerTo: (requestId) => answers.get(requestId),
    stop() {
      listener.close()
      for (const link of links.values()) link.cut()
    },
  }
}

/** Of HTTP answers in parts of any size. */
function createReader(keep: (requestId: string, body: string) => void): (data: Buffer) => void {
  let unread = ''
  return (data) => {
    unread += data.toString('latin1')
    for (let end = unread.indexOf(endOfHead); end >= 0; end = unread.indexOf(endOfHead)) {
      const head = unread.slice(0, end)
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]
      const from = end + endOfHead.length
      const to = from + Number(field('content-length') ?? 0)
      if (unread.length < to) return
      keep(field('x-request-id') ?? '', unread.slice(from, to))
      unread = unread.slice(to)
    }
  }
}

const endOfHead = '\r\n\r\n'
