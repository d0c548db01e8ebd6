import type { RequestListener } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import type { Server as ServerInGuardConnections, TLSSocket, Server as ServerInLogRefusedHandshakes } from 'node:tls'
import { SluiceError } from '../errors.ts'
import { normalSerial } from './authority.ts'
import { readServerCertificates, type ServerCertificates, watchCertificates } from './server-certificates.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const warningDays = 30
/** Far more than bots need. Strangers who only connect must not take the files and the memory that open transactions need. */
const mostConnectionsByDefault = 4_096

interface TlsServerOptions {
  certsDir: string
  log: TlsLog
  /** Settings of the HTTP server itself: timeouts, header sizes. */
  http?: ServerOptions
  /** Beyond them a connection is closed before its handshake. */
  maxConnections?: number
}

/**
 * An HTTPS server that only clients with a valid certificate of our CA get into. Certificates that are renewed or revoked
 * in `certsDir` take effect at once, on open connections and resumed sessions too. Closing it ends the watching.
 */
export async function createTlsServer(
  { certsDir, log, http, maxConnections: mostConnections = mostConnectionsByDefault }: TlsServerOptions,
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
  server.maxConnections = mostConnections
  if (listener) server.on('request', listener)
  const cutRefused = guardConnections(server, () => certificates, log)
  logRefusedHandshakes(server, log)

  const stopWatching = watchCertificates(certsDir, certificates, {
    changed(next) {
      // A new context has new session ticket keys: whoever resumes an older session goes through the whole handshake.
      server.setSecureContext(secureContext(next))
      const caReplaced = next.caFingerprint256 !== certificates.caFingerprint256
      certificates = next
      log.info({ certsDir, revoked: next.revocations.size }, 'certificates read again')
      cutRefused(caReplaced)
    },
    refused: (error) =>
      log.warn(
        { certsDir },
        `changed certificates not taken, the earlier ones stay in use: ${error instanceof Error ? error.message : String(error)}`,
      ),
  })

  warnBeforeEnd(certificates, log)
  const cutExpired = setInterval(cutRefused, minuteMs, false).unref()
  const warn = setInterval(() => warnBeforeEnd(certificates, log), dayMs).unref()
  server.once('close', () => {
    stopWatching()
    clearInterval(cutExpired)
    clearInterval(warn)
  })
  return server
}

function secureContext({ pems: { ca, cert, key, crl } }: ServerCertificates) {
  return { ca, cert, key, crl, minVersion: 'TLSv1.2' as const }
}

function warnBeforeEnd({ serverValidTo, caValidTo }: ServerCertificates, log: TlsLog): void {
  if (daysTo(caValidTo) <= warningDays) {
    log.warn(
      { caValidTo },
      `the CA ${ending(caValidTo)}: make a new set of certificates in another folder and give every client its new files`,
    )
  } else if (daysTo(serverValidTo) <= warningDays) {
    log.warn(
      { serverValidTo },
      `the server certificate ${ending(serverValidTo)}: run "sluice certs renew server"; the running server takes the new one at once`,
    )
  }
}

function daysTo(end: Date): number {
  return Math.floor((end.getTime() - Date.now()) / dayMs)
}

function ending(end: Date): string {
  return daysTo(end) < 0 ? 'has expired' : `expires in ${daysTo(end)} days`
}

/**
 * Refuses what the handshake alone lets through. A resumed session does not check the client's certificate again, and an
 * open connection outlives a revocation: both are looked at here. The returned function cuts the open connections whose
 * certificate is no longer good (all of them, when `all` is set).
 */
function guardConnections(server: ServerInGuardConnections, certificates: () => ServerCertificates, log: TlsLog): (all?: boolean) => void {
  const open = new Set<TLSSocket>()

  // Before the HTTP server's own listener: it must never see such a connection.
  server.prependListener('secureConnection', (socket) => {
    const problem = problemOf(socket, certificates())
    if (problem !== undefined) return cut(socket, problem)
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })

  function cut(socket: TLSSocket, problem: string): void {
    const { commonName, serialNumber } = findPeerIdentity(socket) ?? {}
    log.warn(
      { commonName, serialNumber, remoteAddress: socket.remoteAddress },
      `connection cut: ${problem}${commonName ? ` (CN=${commonName})` : ''}`,
    )
    socket.destroy()
  }

  return (all = false) => {
    for (const socket of open) {
      const problem = all ? 'the CA was replaced' : problemOf(socket, certificates())
      if (problem !== undefined) cut(socket, problem)
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

/** Who is at the other end of a connection, by the client certificate of its handshake. */
interface PeerIdentity {
  commonName: string
  /** SHA-256 of the certificate, upper-case hex with colons. */
  fingerprint256: string
  serialNumber: string
  validTo: Date
}

const identities = new WeakMap<TLSSocket, PeerIdentity>()

/** The client of a connection to our server, read once per connection. */
export function peerIdentity(socket: TLSSocket): PeerIdentity {
  const identity = findPeerIdentity(socket)
  // No handshake ends without one: this is for connections that did not come through `createTlsServer`.
  if (identity === undefined)
    throw new SluiceError('FORBIDDEN', 'The connection has no client certificate: use one that "sluice certs new" made.')
  return identity
}

/** As `peerIdentity`, and undefined when there is no client certificate. */
function findPeerIdentity(socket: TLSSocket): PeerIdentity | undefined {
  return identities.get(socket) ?? read(socket)
}

function read(socket: TLSSocket): PeerIdentity | undefined {
  // Typed as always there, but empty without a certificate and null once the socket is destroyed.
  const peer: Partial<ReturnType<TLSSocket['getPeerCertificate']>> | null = socket.getPeerCertificate()
  if (!peer?.fingerprint256 || !peer.serialNumber || !peer.valid_to) return undefined
  const commonName: unknown = peer.subject?.CN
  const identity = {
    // A certificate with several common names has no name: nobody gets permissions by the one that happens to be read.
    commonName: typeof commonName === 'string' ? commonName : '',
    fingerprint256: peer.fingerprint256,
    serialNumber: normalSerial(peer.serialNumber),
    validTo: new Date(peer.valid_to),
  }
  identities.set(socket, identity)
  return identity
}

const mostLines = 50
const windowMs = 10_000

/** Logs a refused handshake in one line that says who came and why it was refused. */
function logRefusedHandshakes(server: ServerInLogRefusedHandshakes, log: TlsLog): void {
  const allow = createRateLimit(mostLines, windowMs)
  const addresses = new WeakMap<TLSSocket, string | undefined>()

  // A refused socket is destroyed before `tlsClientError` and knows neither its peer nor its address any more. This event
  // is the only public one that has the socket earlier; the key material that it is made for is not looked at.
  server.on('keylog', (_line: Buffer, socket: TLSSocket) => {
    if (addresses.has(socket)) return
    addresses.set(socket, socket.remoteAddress)
    // Emitted when the handshake is through, just before the client's certificate is judged.
    socket.prependOnceListener('secure', () => findPeerIdentity(socket))
  })

  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    const { log: logged, suppressed: keptQuiet } = allow(Date.now())
    if (!logged) return
    const commonName = findPeerIdentity(socket)?.commonName
    const remoteAddress = addresses.get(socket) ?? socket.remoteAddress
    const others = keptQuiet > 0 ? `; ${keptQuiet} more were refused before` : ''
    log.warn(
      { remoteAddress, commonName },
      `handshake refused: ${handshakeRefusal(error, socket)}${commonName ? ` (CN=${printable(commonName)})` : ''}${others}`,
    )
  })
}

/** Anybody can write anything into a certificate of their own: no line breaks or escapes of theirs in our log. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 64)
}

// By OpenSSL's verify result, as Node names it in `authorizationError`.
const byVerification: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'client certificate expired',
  CERT_NOT_YET_VALID: 'client certificate not yet valid',
  CERT_REVOKED: 'client certificate revoked',
  INVALID_PURPOSE: 'certificate is not for clients',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'client certificate signed by another CA',
  UNABLE_TO_GET_ISSUER_CERT: 'client certificate signed by another CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'client certificate signed by another CA',
  CERT_SIGNATURE_FAILURE: 'client certificate signed by another CA',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'client certificate signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'client certificate signed by another CA',
  CRL_HAS_EXPIRED: 'revocation list out of date (run "sluice certs revoke" or put the right revoked.pem in place)',
}

// By the code of Node's error.
const byError: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'no client certificate',
  ERR_SSL_HTTP_REQUEST: 'plain HTTP on the HTTPS port',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not TLS, or a version older than 1.2',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'TLS version older than 1.2',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "the client does not trust this server's CA (give it ca_cert.pem)",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'the client refused the server certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'the client found the server certificate expired',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake not finished in time',
  ECONNRESET: 'the client went away during the handshake',
}

/** Why a connection was refused, from what `tlsClientError` gives, in words for a log. */
function handshakeRefusal(error: Error & { code?: string }, socket: TLSSocket): string {
  // Typed as an Error, but a string (the verify result) or null on a server's socket.
  const verification: unknown = socket.authorizationError
  if (typeof verification === 'string') return byVerification[verification] ?? `client certificate refused: ${verification}`
  return byError[error.code ?? ''] ?? `TLS error: ${error.code ?? error.message}`
}

/** Whether an event may be logged, and how many were kept quiet since the last one that was. */
interface RateLimitResult {
  log: boolean
  suppressed: number
}

/** Lets at most `most` events through in every `windowMs`: whoever can knock must not be able to fill the disk. */
export function createRateLimit(most: number, windowMs: number): (nowMs: number) => RateLimitResult {
  let windowStart = -Infinity
  let seen = 0
  let quiet = 0
  return (nowMs) => {
    if (nowMs - windowStart >= windowMs) {
      windowStart = nowMs
      seen = 0
    }
    seen += 1
    if (seen > most) {
      quiet += 1
      return { log: false, suppressed: quiet }
    }
    const keptQuiet = quiet
    quiet = 0
    return { log: true, suppressed: keptQuiet }
  }
}

/** Where the TLS part of the server writes; a pino logger fits. */
interface TlsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
