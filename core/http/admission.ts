import type { TLSSocket } from 'node:tls'
import { SluiceError, type Permission } from '../api/index.ts'
import { clientOf, type Client } from '../config/clients.ts'
import type { Caller } from '../handlers/caller.ts'
import { peerIdentity } from '../tls/tls-server.ts'

/** Sheds load beyond a number of requests under way. */
export function inFlightLimit(most: number) {
  let count = 0
  const leave = () => void (count -= 1)
  return {
    run<T>(work: () => T | Promise<T>): T | Promise<T> {
      if (count >= most)
        throw new SluiceError('OVERLOADED', `The server has ${most} requests under way (limits.inFlight); try again shortly.`, {
          retryAfterSeconds: 1,
        })
      count += 1
      let isUnderWay = false
      try {
        const answer = work()
        isUnderWay = answer instanceof Promise
        return answer instanceof Promise ? answer.finally(leave) : answer
      } finally {
        if (!isUnderWay) leave()
      }
    },
    get count() {
      return count
    },
  }
}

/** A token bucket per certificate that has a rate of its own: its rate is also its burst. */
export function rateLimit(now: () => number = () => performance.now()) {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return ({ fingerprint, requestsPerSecond }: Caller): void => {
    if (requestsPerSecond === undefined) return
    const most = Math.max(1, requestsPerSecond)
    const bucket = buckets.get(fingerprint) ?? { tokens: most, at: now() }
    buckets.set(fingerprint, bucket)
    bucket.tokens = Math.min(most, bucket.tokens + ((now() - bucket.at) / 1000) * requestsPerSecond)
    bucket.at = now()
    if (bucket.tokens < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / requestsPerSecond))
      throw new SluiceError('RATE_LIMIT', `This client certificate may make ${requestsPerSecond} requests a second (conf/clients.yml).`, {
        retryAfterSeconds,
      })
    }
    bucket.tokens -= 1
  }
}

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
