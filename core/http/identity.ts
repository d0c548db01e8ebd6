import type { TLSSocket } from 'node:tls'
import type { Permission } from '../api/index.ts'
import type { Settings } from '../config/index.ts'
import { peerIdentity } from '../tls/index.ts'
import type { Caller } from '../verbs/caller.ts'

const unlisted: ReadonlySet<Permission> = new Set(['read'])
const none: ReadonlySet<string> = new Set()

/** Who is behind a connection. A certificate that `conf/clients.yml` does not list may read market data only. */
export function identify(clients: Settings['clients']): (socket: TLSSocket) => Caller {
  const callers = new WeakMap<TLSSocket, Caller>()
  return (socket) => {
    const known = callers.get(socket)
    if (known) return known
    const { commonName, fingerprint256 } = peerIdentity(socket)
    const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase()
    const client = clients.find((each) => each.fingerprint === fingerprint) ?? clients.find((each) => each.fingerprint === undefined && each.name === commonName)
    const caller: Caller = {
      commonName,
      fingerprint,
      permissions: client ? new Set(client.permissions) : unlisted,
      wallets: client === undefined ? none : client.wallets === '*' ? '*' : new Set(client.wallets.map((each) => each.toLowerCase())),
      requestsPerSecond: client?.requestsPerSecond,
    }
    callers.set(socket, caller)
    return caller
  }
}
