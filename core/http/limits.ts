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
  /**
   * @param isPing it asks whether the server answers: it counts only beyond what a certificate may ping
   * @throws SluiceError RATE_LIMIT
   */
  rate(caller: Caller, isPing?: boolean): void
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

/**
 * Beside the rate of a certificate: who has used that up still learns whether the server answers, as clients take a ping that is refused for a
 * server that is gone. A ping takes less than half a millisecond.
 */
const pingsPerSecond = 50

/** A token bucket for each certificate that has a rate of its own. The rate per second is also the burst. */
export function rateLimit(now: () => number = () => performance.now()): Limits['rate'] {
  const [requests, pings] = [tokenBuckets(now), tokenBuckets(now)]
  return ({ fingerprint, requestsPerSecond }, isPing = false) => {
    if (requestsPerSecond === undefined) return
    if (isPing && pings.take(fingerprint, pingsPerSecond) >= 0) return
    const left = requests.take(fingerprint, requestsPerSecond)
    if (left < 0) {
      const retryAfterSeconds = Math.max(1, Math.ceil(-left / requestsPerSecond))
      throw new SluiceError('RATE_LIMIT', `This client certificate may send ${requestsPerSecond} requests a second (conf/clients.yml).`, {
        retryAfterSeconds,
        bound: 'requestsPerSecond',
      })
    }
  }
}

function tokenBuckets(now: () => number) {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return {
    /** Takes one, where there is one. @returns how many are left; below 0: so much was missing */
    take(name: string, perSecond: number): number {
      const max = Math.max(1, perSecond)
      const bucket = buckets.get(name) ?? { tokens: max, at: now() }
      buckets.set(name, bucket)
      bucket.tokens = Math.min(max, bucket.tokens + ((now() - bucket.at) / 1000) * perSecond)
      bucket.at = now()
      if (bucket.tokens < 1) return bucket.tokens - 1
      return (bucket.tokens -= 1)
    },
  }
}
