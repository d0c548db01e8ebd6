import type { Server, TLSSocket } from 'node:tls'
import { findPeerIdentity } from './peer-identity.ts'
import type { ServerCertificates } from './server-certificates.ts'
import type { TlsLog } from './tls-log.ts'

/**
 * Refuses what the handshake alone lets through. A resumed session does not check the client's certificate again, and an
 * open connection outlives a revocation: both are looked at here. The returned function cuts the open connections whose
 * certificate is no longer good (all of them, when `all` is set).
 */
export function guardConnections(server: Server, certificates: () => ServerCertificates, log: TlsLog): (all?: boolean) => void {
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
