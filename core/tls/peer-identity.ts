import type { TLSSocket } from 'node:tls'
import { SluiceError } from '../errors.ts'
import { normalSerial } from './serial-number.ts'

/** Who is at the other end of a connection, by the client certificate of its handshake. */
export interface PeerIdentity {
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
export function findPeerIdentity(socket: TLSSocket): PeerIdentity | undefined {
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
