import { createServer, type Server, type ServerOptions } from 'node:https'
import type { RequestListener } from 'node:http'
import { guardConnections } from './guard-connections.ts'
import { logRefusedHandshakes } from './log-refused-handshakes.ts'
import { readServerCertificates, type ServerCertificates } from './server-certificates.ts'
import type { TlsLog } from './tls-log.ts'
import { watchCertificates } from './watch-certificates.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const warningDays = 30
/** Far more than bots need. Strangers who only connect must not take the files and the memory that open transactions need. */
const mostConnectionsByDefault = 4_096

export interface TlsServerOptions {
  certsDir: string
  log: TlsLog
  /** Settings of the HTTP server itself: timeouts, header sizes. */
  http?: ServerOptions
  /** Beyond them a connection is closed before its handshake. */
  mostConnections?: number
}

/**
 * An HTTPS server that only clients with a valid certificate of our CA get into. Certificates that are renewed or revoked
 * in `certsDir` take effect at once, on open connections and resumed sessions too. Closing it ends the watching.
 */
export async function createTlsServer(
  { certsDir, log, http, mostConnections = mostConnectionsByDefault }: TlsServerOptions,
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
