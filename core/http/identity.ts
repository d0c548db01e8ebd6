import type { TLSSocket } from 'node:tls'
import type { Permission } from '../api/index.ts'
import { clientOf, type Client } from '../config/clients.ts'
import { peerIdentity } from '../tls/peer-identity.ts'
import type { Caller } from '../handlers/caller.ts'

const unlisted: ReadonlySet<Permission> = new Set(['read'])
const none: ReadonlySet<string> = new Set()

/** Who is behind a connection. A certificate that `conf/clients.yml` does not list may read market data only. */
export function identify(clients: readonly Client[]): (socket: TLSSocket) => Caller {
  const callers = new WeakMap<TLSSocket, Caller>()
  return (socket) => {
    const known = callers.get(socket)
    if (known) return known
    const caller = callerOf(socket, clients)
    callers.set(socket, caller)
    return caller
  }
}

function callerOf(socket: TLSSocket, clients: readonly Client[]): Caller {
  const certificate = peerIdentity(socket)
  // The handshake lets nobody in without one; a socket that died in between answers nobody anyway.
  if (!certificate) return { commonName: '', fingerprint: '', permissions: new Set(), wallets: none }
  const client = clientOf(clients, certificate)
  return {
    commonName: certificate.commonName,
    fingerprint: certificate.fingerprint256,
    permissions: client ? new Set(client.permissions) : unlisted,
    wallets: client === undefined ? none : client.wallets === 'all' ? 'all' : new Set(client.wallets.map((each) => each.toLowerCase())),
    requestsPerSecond: client?.requestsPerSecond,
  }
}
