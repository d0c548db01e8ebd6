import { SluiceError } from '../base/errors.ts'
import type { Caller } from '../handlers/context.ts'

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
