// Plain HTTP on the loopback addresses, for one user of this machine, forwarded over mutual TLS: for clients that have no certificate.
import { createServer, STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import https from 'node:https'
import { isIP, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { answerIdHeader } from '../http/answer-reports.ts'
import { maxHeaderBytes } from '../http/malformed.ts'
import { createAnswerReports, noReports } from './answer-reports.ts'
import { createConnectionPace, type ConnectionPace } from './connection-pace.ts'
import { otherEnd, type SocketTable } from '../base/socket-table.ts'
import { createServerConnections, type ServerConnection, type ServerConnections, type Upstream } from './server-connections.ts'
import { createUnreadAnswers } from './unread-answers.ts'

export interface ProxyOptions {
  readonly port: number
  readonly upstream: Upstream
  /** Absent: every user of this machine may connect. */
  readonly only?: { readonly users: ReadonlySet<number>; readonly owners: SocketTable }
  /** Whose requests are sent on; by default those of programs, and of no page of a browser. */
  readonly door?: ProxyDoor
  /** How quickly connections to the server are made. */
  readonly pace?: ConnectionPace
  log(line: string): void
}

/** What stands before the server, for requests of users that may connect. */
export interface ProxyDoor {
  /** Why the request goes no further. */
  refusalOf(request: IncomingMessage): string | undefined
  /** True: it has answered the request itself. */
  answers?(request: IncomingMessage, response: ServerResponse, body: Buffer): boolean
  /** Names of headers that are sent on besides the usual ones. */
  readonly passed?: readonly string[]
  /** What it sends on has Idempotency-Keys, so that the server does not have to know which answers were read. */
  readonly hasKeys?: true
}

interface ForwardedRequest {
  readonly body: Buffer
  readonly connection: ServerConnection
}

export interface LocalProxy {
  readonly port: number
  /** What keeps the server from answering; undefined where it answers. */
  probe(): Promise<string | undefined>
  /** Requests under way may end within this time. */
  stop(withinMs: number): Promise<void>
}

/** Of its users; and with those of others, which are closed as soon as their owner is known: nobody keeps its users out. */
const [maxConnections, maxWithOthers] = [256, 2_048]
const maxBodyBytes = 128 * 1024
/** For a request to arrive; without a byte of an answer. */
const [arrivalMs, answerMs] = [60_000, 330_000]
/** For reports about answers, once it is told to stop. */
const lastReportsMs = 2_000
/** Longer than clients keep theirs, so that none is closed as it is used. */
const keepAliveMs = 90_000

/** @param name that its certificate has for sure; undefined: that of the URL. An address is held against the certificate, and sent as no name. */
export function upstreamAt({ hostname, port }: URL, name: string | undefined): Pick<Upstream, 'host' | 'port' | 'servername'> {
  const host = hostname.replaceAll(/[[\]]/g, '')
  return { host, port: Number(port || 443), servername: name ?? (isIP(host) === 0 ? host : '') }
}

/** @throws NodeJS.ErrnoException where the port cannot be used */
export async function startLocalProxy({ port, upstream, only, door = programsOnly, pace, log }: ProxyOptions): Promise<LocalProxy> {
  const connections = createServerConnections(upstream)
  const handshakes = createConnectionPace(pace)
  const tell = withoutFlood(log)
  const reports = door.hasKeys ? noReports : createAnswerReports(connections, tell)
  const unread = createUnreadAnswers(reports)
  /** Of each open connection: whether its user may use it, and what ends its requests that are under way. */
  const clients = new Map<Socket, { readonly admitted: Promise<boolean>; readonly pending: Set<() => void> }>()
  let admittedCount = 0

  /** Whoever is not admitted does not hold one of the connections either. */
  async function admit(socket: Socket): Promise<boolean> {
    if (!(await isAllowed(socket, only, tell)))
      endWith(socket, 403, 'This user of the machine may not use the proxy: start it with --user.')
    else if (admittedCount >= maxConnections) {
      tell(`refused: more than ${maxConnections} connections`)
      endWith(socket, 503, `The proxy has ${maxConnections} connections, which is the most: close some.`)
    } else if (!socket.destroyed) {
      admittedCount += 1
      socket.once('close', () => void (admittedCount -= 1))
      return true
    }
    return false
  }

  function accept(socket: Socket): void {
    const client = { admitted: admit(socket), pending: new Set<() => void>() }
    clients.set(socket, client)
    const end = () => {
      for (const abort of client.pending) abort()
    }
    socket.once('end', end)
    socket.once('close', () => {
      end()
      unread.closed(socket)
      clients.delete(socket)
    })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    const client = clients.get(socket)
    unread.read(socket)
    if (!client || !(await client.admitted)) return
    const refusal = door.refusalOf(request)
    if (refusal !== undefined) {
      tell(`refused: ${refusal}`)
      return refuse(response, 403, refusal)
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
      return refuse(response, 413, `A body has at most ${maxBodyBytes} bytes.`)
    const body = await readBody(request)
    if (!body || door.answers?.(request, response, body)) return
    await seeClosed()
    let isGone = socket.destroyed
    let abort = (): void => void (isGone = true)
    const end = () => abort()
    client.pending.add(end)
    response.once('close', () => client.pending.delete(end))
    // An equal request is another one, or the same, by what is known of the answers before.
    const trouble = mayAct(request) ? await reports.send() : undefined
    if (trouble !== undefined)
      return refuse(response, 503, `The server cannot be told which answers were read, so nothing is sent: ${trouble}.`)
    const connection = connections.take()
    if (!connection.isOpen && !(await handshakes.next(() => isGone))) return connection.end()
    if (isGone) connection.release()
    else abort = forward(request, response, { body, connection })
  }

  /** @returns ends it: the server sees at once that its caller is gone */
  function forward(request: IncomingMessage, response: ServerResponse, { body, connection }: ForwardedRequest): () => void {
    const { method = 'GET', url = '/', headers, socket } = request
    let isSent = false
    const answer = mayAct(request) ? unread.follow(response, connection) : undefined
    const sent = () => {
      isSent = true
      answer?.sent()
    }
    const call = https.request({
      ...connection.options,
      method,
      path: url,
      timeout: answerMs,
      headers: {
        ...passedOn(headers, door.passed),
        ...(answer && !door.hasKeys && { [answerIdHeader]: answer.id }),
        ...(body.length > 0 && { 'content-length': body.length }),
      },
    })
    call.on('socket', (made) => {
      if (call.reusedSocket) sent()
      else made.once('secureConnect', sent)
    })
    call.on('timeout', () => call.destroy(new Error(`no answer for ${answerMs / 1000} s`)))
    call.on('response', (incoming) => {
      answer?.answered(incoming.headers[answerIdHeader] === answer.id)
      response.writeHead(incoming.statusCode ?? 502, passedBack(incoming.headers))
      pipeline(incoming, response, (error) => {
        // What breaks in the middle breaks at the client, too.
        if (error) response.destroy()
        else if (!answer) connection.release()
      })
    })
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (answer) answer.lost()
      else connection.end()
      if (socket.destroyed || response.writableFinished) return
      tell(`${method} ${pathOf(url)}: ${error.message || (error.code ?? error.name)}`)
      // Nothing was sent. Where something may have been, the client sees what it would see without the proxy: its connection is gone.
      if (!response.headersSent && (!isSent || isRefusedHandshake(error, call.reusedSocket)))
        refuse(response, 503, `The server cannot be reached: ${error.message || (error.code ?? error.name)}.`)
      else socket.destroy()
    })
    call.end(body)
    return () => void (response.writableFinished || call.destroy())
  }

  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response).catch((error: unknown) => {
      tell(String(error))
      request.socket.destroy()
    })
  const servers = await listenOnLoopback(port, () => {
    const server = createServer(
      { keepAliveTimeout: keepAliveMs, headersTimeout: arrivalMs, requestTimeout: arrivalMs, maxHeaderSize: maxHeaderBytes },
      listener,
    )
    server.maxConnections = maxWithOthers
    return server.on('connection', accept)
  })

  return {
    port: (servers[0].address() as AddressInfo).port,
    probe: () => probe(connections),
    async stop(withinMs) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      for (const server of servers) server.closeIdleConnections()
      const late = setTimeout(() => {
        for (const server of servers) server.closeAllConnections()
      }, withinMs)
      await Promise.all(closed)
      clearTimeout(late)
      await reports.stop(Math.min(withinMs, lastReportsMs))
      connections.stop()
    },
  }
}

/** Whether its user may use the proxy. */
async function isAllowed(socket: Socket, only: ProxyOptions['only'], tell: (line: string) => void): Promise<boolean> {
  if (!only) return true
  const owner = await only.owners.ownerOf(otherEnd(socket))
  if (owner !== undefined && only.users.has(owner)) return true
  if (!socket.destroyed) tell(`refused: a connection of ${owner === undefined ? 'nobody known' : `the user ${owner}`}`)
  return false
}

/** On 127.0.0.1 and, where the machine has it, ::1: "localhost" is either, and another user must not answer at the one that is left. */
async function listenOnLoopback(port: number, create: () => Server): Promise<[Server, ...Server[]]> {
  const first = create()
  await listen(first, port, '127.0.0.1')
  const second = create()
  try {
    await listen(second, (first.address() as AddressInfo).port, '::1')
    return [first, second]
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code))) return [first]
    first.close()
    throw error
  }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })

const ownHosts = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i

/** By a name that its owner points here, a page of a browser could be of the same origin; and what it asks for is not of this server. */
export function refusalOfAddress({ url = '', headers }: IncomingMessage): string | undefined {
  if (!ownHosts.test(headers.host ?? '')) return 'the header Host must be localhost, 127.0.0.1 or [::1]'
  if (!url.startsWith('/')) return 'only paths of this server are served'
  return undefined
}

/** A page of a browser on this machine may send requests, too: with an Origin. */
const programsOnly: ProxyDoor = {
  refusalOf(request) {
    const { headers } = request
    if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return 'a page of a browser may not use the proxy'
    return refusalOfAddress(request)
  },
}

/** The header names that the server reads, and none that tells how the message is sent. */
const passed = ['accept', 'accept-encoding', 'content-type', 'idempotency-key', 'user-agent', 'x-request-id'] as const

const passedOn = (headers: IncomingHttpHeaders, more: readonly string[] = []): IncomingHttpHeaders =>
  Object.fromEntries([...passed, ...more].flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))

/** What only reads may be asked for again at no harm: nobody has to know whether its answer was read. */
const mayAct = ({ method }: IncomingMessage): boolean => method !== 'GET' && method !== 'HEAD'

const notPassedBack = new Set([
  answerIdHeader,
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'te',
  'proxy-authenticate',
])

const passedBack = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !notPassedBack.has(name)))

/** undefined where it breaks off, and where it is too long: its connection is closed. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of request) {
      parts.push(part as Buffer)
      bytes += (part as Buffer).length
      if (bytes > maxBodyBytes) return undefined
    }
  } catch {
    return undefined
  }
  return Buffer.concat(parts)
}

/**
 * What has happened to connections until now is known then. One that was reset before its owner was looked up may have been taken for another user's,
 * who got its port; it was not known here yet.
 */
async function seeClosed(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** In the words of a gateway's errors. */
const bodyOf = (status: number, message: string): string => JSON.stringify({ statusCode: status, error: STATUS_CODES[status], message })

function refuse(response: ServerResponse, status: number, message: string): void {
  const text = bodyOf(status, message)
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...(status === 413 && { connection: 'close' }),
    })
    .end(text)
}

function endWith(socket: Socket, status: number, message: string): void {
  const text = bodyOf(status, message)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ]
  socket.end(`${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}

/** The server takes no certificate of this client. In TLS 1.3 it says so after the client's end of the handshake, and reads no request before. */
const isRefusedHandshake = ({ code }: NodeJS.ErrnoException, isReused: boolean): boolean =>
  !isReused && (code?.startsWith('ERR_SSL_') ?? false)

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

const probeMs = 5_000

function probe(connections: ServerConnections): Promise<string | undefined> {
  const connection = connections.take()
  return new Promise((resolve) => {
    const call = https.get({ ...connection.options, path: '/', timeout: probeMs }, (response) => {
      response.resume()
      response.on('end', () => {
        connection.release()
        resolve(response.statusCode === 200 ? undefined : `it answers ${response.statusCode}`)
      })
    })
    call.on('timeout', () => call.destroy(new Error(`no answer within ${probeMs / 1000} s`)))
    call.on('error', (error: NodeJS.ErrnoException) => {
      connection.end()
      resolve(error.message || (error.code ?? error.name))
    })
  })
}

/** One line a second, with the number of those that were left out. */
function withoutFlood(log: (line: string) => void): (line: string) => void {
  let [lastMs, hidden] = [-Infinity, 0]
  return (line) => {
    if (performance.now() - lastMs < 1_000) return void (hidden += 1)
    log(hidden > 0 ? `${line} (and ${hidden} more before)` : line)
    lastMs = performance.now()
    hidden = 0
  }
}
