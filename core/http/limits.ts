// What a client certificate may use, on all interfaces of the server together.
import type { TLSSocket } from 'node:tls'
import { SluiceError } from '../base/errors.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Settings } from '../config/settings.ts'
import type { Caller } from '../handlers/context.ts'
import { createBodyBudget, type BodyBudget } from './body-budget.ts'
import { identify, type Connection } from './connections.ts'
import { createFairQueue, type FairQueue } from './fair-queue.ts'
import type { Metrics } from './metrics.ts'

export interface Limits {
  /** Who is at the other end. */
  connectionOf(socket: TLSSocket): Connection
  /** @throws SluiceError RATE_LIMIT */
  rate(caller: Caller): void
  readonly bodies: BodyBudget
  /** Of the requests in flight. */
  readonly queue: FairQueue
}

interface LimitsOptions {
  settings: Pick<Settings, 'limits' | 'server'>
  clients: LiveClients
  metrics: Pick<Metrics, 'connectionsRefused'>
}

export function createLimits({ settings, clients, metrics }: LimitsOptions): Limits {
  const { limits, server } = settings
  return {
    connectionOf: identify({ clients, limits }, () => metrics.connectionsRefused.inc({ reason: 'certificate' })),
    rate: rateLimit(),
    bodies: createBodyBudget(limits),
    queue: createFairQueue({ maxInFlight: limits.inFlight, maxWaitMs: server.requestTimeoutSeconds * 1000 }),
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
        bound: 'requestsPerSecond',
      })
    }
    bucket.tokens -= 1
  }
}
