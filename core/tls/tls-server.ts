import type { X509Certificate } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { reasonOf, SluiceError } from '../base/errors.ts'
import { command } from '../base/layout.ts'
import { dropOldest } from '../base/oldest.ts'
import { handshakeRefusal, sentChain } from './handshake-refusals.ts'
import { type HandshakeLimits, paceHandshakes } from './handshakes.ts'
import { normalSerial } from './revocation-list.ts'
import { readServerCertificates, type ServerCertificates, watchCertificates } from './server-certificates.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const warningDays = 30
/** Far more than bots need. Strangers who only connect must not use up the file descriptors and memory that open transactions need. */
const defaultMaxConnections = 4_096
const defaultHandshakes: HandshakeLimits = { handshakes: 2_048, handshakesOfAddress: 256 }

/** Where the TLS server logs. A pino logger fits. */
interface TlsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** What there were too many of: connections, or those of them without a certificate. */
export type RefusedConnection = 'connections' | 'handshakes'

export interface TlsServerOptions {
  certsDir: string
  log: TlsLog
  /** Settings of the HTTP server itself: timeouts, header sizes. */
  http?: ServerOptions
  /** Beyond them a connection is closed before its handshake. */
  maxConnections?: number
  handshakes?: HandshakeLimits
  /** Called for each connection that is closed because there are too many. */
  onRefused?(reason: RefusedConnection): void
}

/**
 * Creates an HTTPS server that accepts only clients with a valid certificate of our CA. Certificates that are renewed or revoked
 * in `certsDir` take effect at once, on open connections and resumed sessions too. Closing the server ends the watching.
 */
export async function createTlsServer(
  { certsDir, log, http, maxConnections = defaultMaxConnections, handshakes = defaultHandshakes, onRefused = () => {} }: TlsServerOptions,
  listener?: RequestListener,
): Promise<Server> {
  let certificates = await readServerCertificates(certsDir)
  const server = createServer({
    ...http,
    ...secureContext(certificates),
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: 10_000,
  })
  server.maxConnections = maxConnections
  server.on('drop', () => onRefused('connections'))
  paceHandshakes(server, handshakes, () => onRefused('handshakes'))
  if (listener) server.on('request', listener)
  const closeRefused = guardConnections(server, () => certificates, log)
  logRefusedHandshakes(server, () => certificates, log)

  const stopWatching = watchCertificates(certsDir, certificates, {
    changed(next) {
      // A new context has new session ticket keys, so a client that resumes an older session does the whole handshake again.
      server.setSecureContext(secureContext(next))
      const caReplaced = next.ca.fingerprint256 !== certificates.ca.fingerprint256
      certificates = next
      log.info({ certsDir, revoked: next.revocations.size }, 'certificates reloaded')
      closeRefused(caReplaced)
    },
    rejected: (error) => log.warn({ certsDir }, `changed certificates rejected, the earlier ones stay in use: ${reasonOf(error)}`),
  })

  warnBeforeExpiry(certificates, log)
  const closeExpired = setInterval(closeRefused, minuteMs, false).unref()
  const warn = setInterval(() => warnBeforeExpiry(certificates, log), dayMs).unref()
  server.once('close', () => {
    stopWatching()
    clearInterval(closeExpired)
    clearInterval(warn)
  })
  return server
}

function secureContext({ pems: { ca, cert, key, crl } }: ServerCertificates) {
  return { ca, cert, key, crl, ciphers, minVersion: 'TLSv1.2' as const }
}

/** All of TLS 1.3 that Node.js offers; of TLS 1.2 those with forward secrecy and authenticated encryption whose tags are whole: no CBC, no CCM8. */
const ciphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

function warnBeforeExpiry({ serverValidTo, caValidTo }: ServerCertificates, log: TlsLog): void {
  if (daysTo(caValidTo) <= warningDays) {
    log.warn(
      { caValidTo },
      `the CA ${describeExpiry(caValidTo)}: make a new set of certificates in another folder and give every client its new files`,
    )
  } else if (daysTo(serverValidTo) <= warningDays) {
    log.warn(
      { serverValidTo },
      `the server certificate ${describeExpiry(serverValidTo)}: run "${command} certs renew server"; the running server loads the new one at once`,
    )
  }
}

const daysTo = (end: Date): number => Math.floor((end.getTime() - Date.now()) / dayMs)
const describeExpiry = (end: Date): string => (daysTo(end) < 0 ? 'has expired' : `expires in ${daysTo(end)} days`)

/**
 * Refuses connections that the handshake alone lets through: a resumed session does not check the client's certificate again, and an
 * open connection outlives a revocation.
 * @returns closes the open connections whose certificate is no longer valid, or all of them
 */
function guardConnections(server: Server, certificates: () => ServerCertificates, log: TlsLog): (all?: boolean) => void {
  const open = new Set<TLSSocket>()

  // Before the HTTP server's own listener, which must never see such a connection.
  server.prependListener('secureConnection', (socket) => {
    const problem = problemOf(socket, certificates())
    if (problem !== undefined) return close(socket, problem)
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })

  function close(socket: TLSSocket, problem: string): void {
    const { commonName, serialNumber } = findPeerIdentity(socket) ?? {}
    log.warn(
      { commonName, serialNumber, remoteAddress: socket.remoteAddress },
      `connection closed: ${problem}${commonName ? ` (CN=${commonName})` : ''}`,
    )
    socket.destroy()
  }

  return (all = false) => {
    for (const socket of open) {
      const problem = all ? 'the CA was replaced' : problemOf(socket, certificates())
      if (problem !== undefined) close(socket, problem)
    }
  }
}

function problemOf(socket: TLSSocket, certificates: ServerCertificates): string | undefined {
  const identity = findPeerIdentity(socket)
  if (identity === undefined) return 'no client certificate'
  if (certificates.revocations.has(identity.serialNumber)) return 'client certificate revoked'
  if (identity.validTo.getTime() < Date.now()) return 'client certificate expired'
  return undefined
}

/** The client of a connection, by the certificate of its handshake. */
interface PeerIdentity {
  commonName: string
  /** SHA-256 of the certificate, upper-case hex with colons. */
  fingerprint256: string
  serialNumber: string
  validTo: Date
}

const identities = new WeakMap<TLSSocket, PeerIdentity>()

/** The client of a connection to our server. It is read once for each connection. */
export function peerIdentity(socket: TLSSocket): PeerIdentity {
  const identity = findPeerIdentity(socket)
  // No handshake ends without a certificate. This is for connections that did not come through `createTlsServer`.
  if (identity === undefined)
    throw new SluiceError('FORBIDDEN', `The connection has no client certificate: use one that "${command} certs new" made.`)
  return identity
}

/** As `peerIdentity`, but undefined when there is no client certificate. */
function findPeerIdentity(socket: TLSSocket): PeerIdentity | undefined {
  const known = identities.get(socket)
  if (known) return known
  // Its type says that it is always there, but it is empty without a certificate and null once the socket is destroyed.
  const peer: Partial<ReturnType<TLSSocket['getPeerCertificate']>> | null = socket.getPeerCertificate()
  if (!peer?.fingerprint256 || !peer.serialNumber || !peer.valid_to) return undefined
  const commonName: unknown = peer.subject?.CN
  const identity = {
    // A certificate with several common names counts as having none: nobody gets permissions by whichever is read first.
    commonName: typeof commonName === 'string' ? commonName : '',
    fingerprint256: peer.fingerprint256,
    serialNumber: normalSerial(peer.serialNumber),
    validTo: new Date(peer.valid_to),
  }
  identities.set(socket, identity)
  return identity
}

const [maxLines, windowMs] = [50, 10_000]
/** Fewer lines of one address, so that it neither fills the log nor hides others. */
const [maxLinesOfAddress, addressWindowMs] = [5, 60_000]
/** Those that were refused last are known. */
const maxAddresses = 1_000

/** Logs a refused handshake in one line that says who came and why it was refused. */
function logRefusedHandshakes(server: Server, certificates: () => ServerCertificates, log: TlsLog): void {
  const allow = createRateLimit(maxLines, windowMs)
  const limitOfAddress = new Map<string, ReturnType<typeof createRateLimit>>()
  const addresses = new WeakMap<TLSSocket, string | undefined>()
  const chains = new WeakMap<TLSSocket, readonly X509Certificate[]>()

  // A refused socket is destroyed before `tlsClientError`, and has lost its peer and its address by then. This event is the only public
  // one that has the socket earlier. Its key material is not used.
  server.on('keylog', (_line: Buffer, socket: TLSSocket) => {
    if (addresses.has(socket)) return
    addresses.set(socket, socket.remoteAddress)
    // Emitted at the end of the handshake, just before the client's certificate is verified.
    socket.prependOnceListener('secure', () => {
      findPeerIdentity(socket)
      chains.set(socket, sentChain(socket))
    })
  })
  server.on('secureConnection', (socket) => chains.delete(socket))

  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    const remoteAddress = addresses.get(socket) ?? socket.remoteAddress
    const ofAddress = allowAddress(remoteAddress ?? '')
    if (!ofAddress.log) return
    const { log: isLogged, suppressed } = allow(performance.now())
    if (!isLogged) return
    const commonName = findPeerIdentity(socket)?.commonName
    const sameAddress = ofAddress.suppressed > 0 ? `; ${ofAddress.suppressed} more of this address were refused before` : ''
    const others = suppressed > 0 ? `; ${suppressed} more were refused before` : ''
    log.warn(
      { remoteAddress, commonName },
      `handshake refused: ${handshakeRefusal(error, socket, chains.get(socket) ?? [], certificates())}${commonName ? ` (CN=${printable(commonName)})` : ''}${sameAddress}${others}`,
    )
  })

  function allowAddress(address: string): RateLimitResult {
    const limit = limitOfAddress.get(address) ?? createRateLimit(maxLinesOfAddress, addressWindowMs)
    // A map keeps the order in which its keys were set: the first one was refused longest ago.
    limitOfAddress.delete(address)
    limitOfAddress.set(address, limit)
    dropOldest(limitOfAddress, maxAddresses)
    return limit(performance.now())
  }
}

/** Removes line breaks and escapes: strangers can write anything into a certificate of their own, and the name goes into our log. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 64)
}

/** Whether an event may be logged, and how many were not logged since the last one that was. */
interface RateLimitResult {
  log: boolean
  suppressed: number
}

/** Lets at most `max` events be logged in every `windowMs`, so that strangers who connect cannot fill the disk. */
export function createRateLimit(max: number, windowMs: number): (nowMs: number) => RateLimitResult {
  let windowStart = -Infinity
  let count = 0
  let suppressed = 0
  return (nowMs) => {
    if (nowMs - windowStart >= windowMs) {
      windowStart = nowMs
      count = 0
    }
    count += 1
    if (count > max) {
      suppressed += 1
      return { log: false, suppressed }
    }
    const result = { log: true, suppressed }
    suppressed = 0
    return result
  }
}
