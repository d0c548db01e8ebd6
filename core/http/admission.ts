import type { TLSSocket } from 'node:tls'
import type { Permission } from '../api/endpoint.ts'
import { clientOf, type Client } from '../config/clients.ts'
import { SluiceError } from '../errors.ts'
import type { Caller } from '../handlers/context.ts'
import { peerIdentity } from '../tls/tls-server.ts'

// Who calls, and how much they may call.

/** A certificate that `conf/clients.yml` does not list may only read market data. */
const unlisted: ReadonlySet<Permission> = new Set(['read'])
const noWallets: ReadonlySet<string> = new Set()

/** Identifies callers by their client certificate, once for each connection. */
export function identify(clients: readonly Client[]): (socket: TLSSocket) => Caller {
  const callers = new WeakMap<TLSSocket, Caller>()
  return (socket) => {
    const caller = callers.get(socket) ?? callerOf(socket, clients)
    callers.set(socket, caller)
    return caller
  }
}

function callerOf(socket: TLSSocket, clients: readonly Client[]): Caller {
  const certificate = peerIdentity(socket)
  // The handshake requires a certificate. A socket that was closed since then has none, and gets no answer anyway.
  if (!certificate) return { commonName: '', fingerprint: '', permissions: new Set(), wallets: noWallets }
  const client = clientOf(clients, certificate)
  return {
    commonName: certificate.commonName,
    fingerprint: certificate.fingerprint256,
    permissions: client ? new Set(client.permissions) : unlisted,
    wallets:
      client === undefined ? noWallets : client.wallets === 'all' ? 'all' : new Set(client.wallets.map((each) => each.toLowerCase())),
    requestsPerSecond: client?.requestsPerSecond,
  }
}

/** Refuses requests beyond this number at the same time. */
export function inFlightLimit(max: number) {
  let count = 0
  const leave = () => void (count -= 1)
  return {
    /** @throws SluiceError OVERLOADED */
    run<T>(work: () => T | Promise<T>): T | Promise<T> {
      if (count >= max)
        throw new SluiceError('OVERLOADED', `The server has ${max} requests in flight (limits.inFlight). Try again shortly.`, {
          retryAfterSeconds: 1,
        })
      count += 1
      let isPending = false
      try {
        const answer = work()
        isPending = answer instanceof Promise
        return answer instanceof Promise ? answer.finally(leave) : answer
      } finally {
        if (!isPending) leave()
      }
    },
    get count() {
      return count
    },
  }
}

/** A token bucket for each certificate that has a rate of its own. The rate per second is also the burst. */
export function rateLimit(now: () => number = () => performance.now()) {
  const buckets = new Map<string, { tokens: number; at: number }>()
  /** @throws SluiceError RATE_LIMIT */
  return ({ fingerprint, requestsPerSecond }: Caller): void => {
    if (requestsPerSecond === undefined) return
    const max = Math.max(1, requestsPerSecond)
    const bucket = buckets.get(fingerprint) ?? { tokens: max, at: now() }
    buckets.set(fingerprint, bucket)
    bucket.tokens = Math.min(max, bucket.tokens + ((now() - bucket.at) / 1000) * requestsPerSecond)
    bucket.at = now()
    if (bucket.tokens < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / requestsPerSecond))
      throw new SluiceError('RATE_LIMIT', `This client certificate may send ${requestsPerSecond} requests a second (conf/clients.yml).`, {
        retryAfterSeconds,
      })
    }
    bucket.tokens -= 1
  }
}
