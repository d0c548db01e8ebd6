import { SluiceError } from '../api/index.ts'
import type { Caller } from '../handlers/caller.ts'

/** Sheds load beyond a number of requests under way. */
export function inFlightBound(most: number) {
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
