// Lines between bots and a server that fail, and that keep what came over them: what a server wrote is known whatever became of its client.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'

/** A connection of a client to the server, which can fail. */
export interface Link {
  /** Both ends learn that it is gone. */
  cut(): void
  /** From now on nothing comes through but its end: on the way to the server (`up`) or from it (`down`). */
  stall(way: 'up' | 'down'): void
  /** Resolves once the server has read that its client is gone: from then on it knows that what it writes is lost. */
  readonly endRead: Promise<void>
}

export interface Links {
  readonly port: number
  /** That of a client, by the port that it has at its end. */
  of(clientPort: number): Link | undefined
  /** Cuts all that there are. */
  cutAll(): void
  /** The answer to a request, by its id, that the server wrote to a line which stood as far as it had read, whoever read it. */
  answerTo(requestId: string): string | undefined
  stop(): void
}

/** What both ends know each other by. */
export interface LinkFiles {
  readonly ca: Buffer
  readonly client: { readonly cert: Buffer; readonly key: Buffer }
  readonly server: { readonly cert: Buffer; readonly key: Buffer }
}

/**
 * @param target the port of the server now; undefined while there is none
 * @param near whether clients speak TLS to the line, too; the line does so to the server in any case
 */
export async function startLinks(
  target: () => number | undefined,
  { ca, client: own, server }: LinkFiles,
  near: 'tls' | 'plain' = 'tls',
): Promise<Links> {
  const links = new Map<number, Link>()
  const answers = new Map<string, string>()
  const secureContext = tls.createSecureContext({ ca, ...server, sessionIdContext: 'links' })
  const clientContext = tls.createSecureContext({ ca, ...own })
  const listener = net.createServer((raw) => {
    const clientPort = raw.remotePort ?? 0
    const to = target()
    raw.on('error', () => {})
    if (to === undefined) return void raw.destroy()
    const client =
      near === 'plain' ? raw : new tls.TLSSocket(raw, { isServer: true, requestCert: true, secureContext }).on('error', () => {})
    const far = tls.connect({ host: '127.0.0.1', port: to, servername: 'localhost', secureContext: clientContext }).on('error', () => {})
    const keep = createReader((requestId, body) => answers.set(requestId, body))
    let [isOpen, stalledUp, stalledDown] = [false, false, false]
    far.once('secureConnect', () => (isOpen = true))
    let isEndRead = false
    let resolveEndRead = () => {}
    const endRead = new Promise<void>((resolve) => (resolveEndRead = resolve))
    const end = () => {
      // What waits for the handshake is sent by nobody any more.
      if (!isOpen) return void far.destroy()
      if (far.writableEnded) return
      far.end(() => {
        void untilEndIsRead(to, far).then(() => {
          isEndRead = true
          resolveEndRead()
        })
      })
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
      endRead,
    })
    client.on('data', (data: Buffer) => stalledUp || far.write(data))
    client.on('end', end)
    client.on('close', end)
    // What the server wrote before it learns that the client is gone still arrives here.
    far.on('data', (data: Buffer) => {
      if (!isEndRead) keep(data)
      if (!stalledDown && !client.destroyed) client.write(data)
    })
    far.on('close', () => {
      client.destroySoon()
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

const lookEveryMs = 20
/** Linux's connections: each with its state and the bytes that wait to be sent and to be read, the end of the other side for one. */
const connectionTables = ['/proc/net/tcp', '/proc/net/tcp6']
const established = '01'
/** Where the system does not tell, a server counts as having read it then. */
const untoldMs = 1_000
/** A connection is not in the table once its process has closed it. A table that changes while it is read may lack others, too. */
const leastMissing = 5

/** Until the server's process has read that its client is gone, by what its system says; and until what it wrote before has been read here. */
async function untilEndIsRead(serverPort: number, far: tls.TLSSocket): Promise<void> {
  const clientPort = far.localPort ?? 0
  let missing = 0
  for (const sentAt = performance.now(); !far.destroyed && missing < leastMissing;) {
    const rows = await connectionRows()
    const row = rows?.get(rowKey(serverPort, clientPort))
    missing = rows && !row ? missing + 1 : 0
    if (rows ? row && row.state !== established && row.unread === 0 : performance.now() - sentAt > untoldMs) break
    await sleep(lookEveryMs)
  }
  await nextTurn()
  await nextTurn()
}

const rowKey = (localPort: number, remotePort: number) => localPort * 65_536 + remotePort

type ConnectionRows = ReadonlyMap<number, { readonly state: string; readonly unread: number }>

/** undefined where the system does not tell. Of many lines that end at once one reading tells all: those that ask while it is read wait for the next, which begins after they asked. */
let underWay: Promise<ConnectionRows | undefined> | undefined
let following: Promise<ConnectionRows | undefined> | undefined

function connectionRows(): Promise<ConnectionRows | undefined> {
  if (underWay) return (following ??= underWay.then(() => ((following = undefined), connectionRows())))
  return (underWay = readRows().finally(() => (underWay = undefined)))
}

async function readRows(): Promise<ConnectionRows | undefined> {
  const tables = await Promise.all(connectionTables.map((file) => readFile(file, 'latin1').catch(() => '')))
  if (tables.every((table) => table === '')) return undefined
  const rows = new Map<number, { state: string; unread: number }>()
  for (const [, local = '', remote = '', state = '', unread = ''] of tables
    .join('\n')
    .matchAll(/^ *\d+: \w+:(\w{4}) \w+:(\w{4}) (\w\w) \w+:(\w+) /gm))
    rows.set(rowKey(Number.parseInt(local, 16), Number.parseInt(remote, 16)), { state, unread: Number.parseInt(unread, 16) })
  return rows
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
