import type { Server, TLSSocket } from 'node:tls'
import { burstLimit } from './burst-limit.ts'
import { handshakeRefusal } from './handshake-refusal.ts'
import { findPeerIdentity } from './peer-identity.ts'
import type { TlsLog } from './tls-log.ts'

const mostLines = 50
const windowMs = 10_000

/** Logs a refused handshake in one line that says who came and why it was refused. */
export function logRefusedHandshakes(server: Server, log: TlsLog): void {
  const allow = burstLimit(mostLines, windowMs)
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
    const { log: logged, keptQuiet } = allow(Date.now())
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
