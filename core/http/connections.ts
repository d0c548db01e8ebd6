import type { ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Permission } from '../api/endpoint.ts'
import { clientOf, reservedFor, type Client, type ClientBounds, type UnlistedClients } from '../config/clients.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Settings } from '../config/settings.ts'
import { SluiceError } from '../base/errors.ts'
import { rightsOf, type Caller } from '../handlers/context.ts'
import { peerIdentity } from '../tls/tls-server.ts'
import { ClientLoad, tooManyWaiting } from './fair-queue.ts'

// Who is at the other end of a connection, and what it may have there at once.

/** A client that takes nothing of its answers for so long is cut off. */
const stallMs = 60_000

/** One connection too many is told so, and closed after so long if it asks nothing. */
const excessMs = 5_000

type Limits = Pick<Settings['limits'], 'connectionInFlight' | 'clientInFlight' | 'clientUnsentBytes'>

export class Connection {
  /** As conf/clients.yml says now. */
  caller: Caller
  readonly client: ClientLoad
  readonly #limits: Limits
  #newest: ServerResponse | undefined
  /** Answers that are not finished, of a connection whose client sends requests before it has the answers to those before. */
  readonly #open = new Set<ServerResponse>()
  readonly #waiting: (() => void)[] = []
  #unsentBytes = 0
  /** Why nothing is answered on it. */
  refusal: SluiceError | undefined

  constructor(caller: Caller, client: ClientLoad, limits: Limits) {
    this.caller = caller
    this.client = client
    this.#limits = limits
  }

  /** Whether a request may begin now. */
  takes(response: ServerResponse): boolean {
    if (this.refusal) return false
    if (this.client.unsentBytes > this.#limits.clientUnsentBytes) return false
    if (this.#open.size === 0) {
      const before = this.#newest
      this.#newest = response
      if (!before || before.writableFinished) return true
      this.#follow(before)
    }
    if (this.#open.size >= this.#limits.connectionInFlight || this.#waiting.length > 0) return false
    this.#follow(response)
    return true
  }

  /** Begins it once enough of those before it have been answered, and the answers were taken. @throws SluiceError RATE_LIMIT */
  wait(response: ServerResponse, begin: () => void): void {
    const { client } = this
    if (this.refusal) {
      response.shouldKeepAlive = false
      throw this.refusal
    }
    if (client.unsentBytes > this.#limits.clientUnsentBytes) throw tooMuchUnsent(this.#limits.clientUnsentBytes)
    if (client.behind + client.waiting.length >= client.maxWaiting) throw tooManyWaiting(client)
    client.behind += 1
    this.#waiting.push(() => {
      client.behind -= 1
      this.#follow(response)
      begin()
    })
  }

  /** Whether the client has not got all answers to its requests before. */
  get isAnswering(): boolean {
    return this.#open.size > 0 || this.#newest?.writableFinished === false
  }

  /** Counts what the client has not taken of an answer. */
  holdUnsent(response: ServerResponse): void {
    const bytes = response.writableLength
    this.#addUnsent(bytes)
    response.once('close', () => this.#addUnsent(-Math.min(bytes, this.#unsentBytes)))
    response.socket?.setTimeout(stallMs)
  }

  close(): void {
    this.client.behind -= this.#waiting.splice(0).length
    this.#addUnsent(-this.#unsentBytes)
  }

  #addUnsent(bytes: number): void {
    this.#unsentBytes += bytes
    this.client.unsentBytes += bytes
  }

  #follow(response: ServerResponse): void {
    this.#open.add(response)
    response.once('close', () => {
      this.#open.delete(response)
      if (this.#open.size < this.#limits.connectionInFlight) this.#waiting.shift()?.()
    })
  }
}

/**
 * Identifies callers by their client certificate, once for each connection, and again when conf/clients.yml has changed. What they have in flight
 * counts for all connections of a certificate.
 */
export function identify(
  { clients, limits }: { clients: Pick<LiveClients, 'list' | 'unlisted' | 'onChange'>; limits: Settings['limits'] },
  onRefused: () => void,
): (socket: TLSSocket) => Connection {
  const connections = new WeakMap<TLSSocket, Connection>()
  const loads = new Map<string, { client: ClientLoad; connections: number }>()
  const open = new Map<Connection, Certificate | undefined>()
  clients.onChange(() => {
    for (const [connection, certificate] of open) {
      const { caller, bounds } = callerOf(certificate, clients.list, clients.unlisted)
      connection.caller = caller
      connection.client.setMost(bounds.inFlight ?? limits.clientInFlight)
    }
  })

  function connect(socket: TLSSocket): Connection {
    const certificate = identityOf(socket)
    const { caller, bounds } = callerOf(certificate, clients.list, clients.unlisted)
    const { fingerprint } = caller
    const maxConnections = bounds.connections ?? limits.clientConnections
    const load = loads.get(fingerprint) ?? { client: new ClientLoad(bounds.inFlight ?? limits.clientInFlight), connections: 0 }
    loads.set(fingerprint, load)
    load.connections += 1
    const connection = new Connection(caller, load.client, limits)
    open.set(connection, certificate)
    if (load.connections > maxConnections) {
      connection.refusal = tooManyConnections(maxConnections)
      onRefused()
      const timer = setTimeout(() => socket.destroy(), excessMs).unref()
      socket.once('close', () => clearTimeout(timer))
    }
    socket.once('close', () => {
      open.delete(connection)
      connection.close()
      load.connections -= 1
      if (load.connections === 0) loads.delete(fingerprint)
    })
    return connection
  }

  return (socket) => {
    let connection = connections.get(socket)
    if (!connection) connections.set(socket, (connection = connect(socket)))
    return connection
  }
}

/** A certificate that `conf/clients.yml` does not list may only read market data. */
const readOnly: ReadonlySet<Permission> = new Set(['read'])
const none: ReadonlySet<Permission> = new Set()
const noWallets: ReadonlySet<string> = new Set()

/** What `conf/clients.yml` says of a certificate. */
export function callerOf(
  certificate: Certificate | undefined,
  clients: readonly Client[],
  unlisted: UnlistedClients,
): { caller: Caller; bounds: ClientBounds } {
  if (!certificate) return { caller: { id: '', fingerprint: '', permissions: none, wallets: noWallets }, bounds: unlisted }
  const client = clientOf(clients, certificate)
  const { closed } = client ?? unlisted
  const bounds = client && closed === undefined ? client : unlisted
  const caller = {
    ...idsOf(certificate, client, clients),
    fingerprint: certificate.fingerprint256,
    ...(certificate.serialNumber !== undefined && { serialNumber: certificate.serialNumber }),
    ...(client
      ? rightsOf(client)
      : { permissions: closed === undefined ? readOnly : none, wallets: noWallets, ...(closed !== undefined && { closed }) }),
    requestsPerSecond: bounds.requestsPerSecond,
    streams: bounds.streams,
  } as const
  return { caller, bounds }
}

type Identity = ReturnType<typeof peerIdentity>
type Certificate = Pick<Identity, 'commonName' | 'fingerprint256'> & Partial<Pick<Identity, 'serialNumber'>>

function idsOf(
  { commonName, fingerprint256 }: Certificate,
  client: Client | undefined,
  clients: readonly Client[],
): Pick<Caller, 'id' | 'formerId'> {
  const isNameOfEntry = commonName === '' || clients.some(({ name }) => name === commonName)
  // A name that is the fingerprint of another certificate is that one's id.
  if (!client) return { id: isNameOfEntry || reservedFor(commonName) !== undefined ? fingerprint256 : commonName }
  return { id: client.name, ...(!isNameOfEntry && { formerId: commonName }) }
}

/** The handshake requires a certificate. A socket that was closed since then has none, and gets no answer anyway. */
function identityOf(socket: TLSSocket) {
  try {
    return peerIdentity(socket)
  } catch {
    return undefined
  }
}

interface UnsentAnswer {
  readonly connection: Connection
  readonly response: ServerResponse
}

/** Looks at answers two turns of the event loop after they were given, when nearly all have left. What is not finished then waits for its client. */
export function unsentWatch(): (connection: Connection, response: ServerResponse) => void {
  let answered: UnsentAnswer[] = []
  const isWaiting = ({ response }: UnsentAnswer) => !response.writableFinished && !response.closed

  function look(): void {
    const waiting = answered.filter(isWaiting)
    answered = []
    if (waiting.length === 0) return
    setImmediate(() => {
      for (const each of waiting) if (isWaiting(each)) each.connection.holdUnsent(each.response)
    })
  }

  return (connection, response) => {
    answered.push({ connection, response })
    if (answered.length === 1) setImmediate(look)
  }
}

const tooMuchUnsent = (max: number) =>
  new SluiceError(
    'RATE_LIMIT',
    `This client certificate has not taken ${max} bytes of answers that wait for it (limits.clientUnsentBytes): nothing was done for this request. Read the answers first.`,
    { retryAfterSeconds: 1, bound: 'clientUnsentBytes' },
  )

const tooManyConnections = (max: number) =>
  new SluiceError(
    'RATE_LIMIT',
    `This client certificate has ${max} connections open (limits.clientConnections): nothing was done for this request, and this connection is closed. Send requests on the open ones.`,
    { retryAfterSeconds: 5, bound: 'clientConnections' },
  )
