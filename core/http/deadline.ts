import { SluiceError } from '../api/index.ts'

/** Whoever does the work sees the signal too, and knows better what became of it: it gets this long to say so. */
const graceMs = 100

export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal
  /** The work's outcome, or TIMEOUT when the time is over; the work itself goes on to its own end. */
  bound<T>(work: Promise<T>): Promise<T>
}

/** The time of one request. Its timer ends with the work: thousands of requests a second must not leave theirs behind. */
export function startDeadline(seconds: number): Deadline {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), seconds * 1000)
  const { signal } = over

  return {
    signal,
    async bound(work) {
      let graceTimer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => (graceTimer = setTimeout(() => reject(timeout(seconds)), graceMs)), { once: true })
      })
      // Whoever loses the race must not become an unhandled rejection.
      work.catch(() => {})
      try {
        return await Promise.race([work, late])
      } finally {
        clearTimeout(timer)
        clearTimeout(graceTimer)
      }
    },
  }
}

const timeout = (seconds: number) =>
  new SluiceError(
    'TIMEOUT',
    `No answer within ${seconds} s (server.requestTimeoutSeconds). If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.`,
  )
