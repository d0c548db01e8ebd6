import { SluiceError } from '../api/index.ts'

/** Whoever does the work sees the signal too, and knows better what became of it: it gets this long to say so. */
const graceMs = 100

/** The time of one request. It begins when somebody first waits for something: what is answered at once needs no timer. */
export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal
  /** The work's outcome, at once where it is there; TIMEOUT when the time is over, and the work itself goes on to its own end. */
  bound<T>(work: () => T | Promise<T>): T | Promise<T>
}

export function createDeadline(seconds: number): Deadline {
  let over: AbortController | undefined
  let timer: NodeJS.Timeout | undefined

  return {
    get signal() {
      if (over) return over.signal
      const begun = new AbortController()
      over = begun
      timer = setTimeout(() => begun.abort(), seconds * 1000)
      return begun.signal
    },
    bound(work) {
      // Its timer ends with the work: thousands of requests a second must not leave theirs behind.
      let waits = false
      try {
        const outcome = work()
        waits = outcome instanceof Promise
        return outcome instanceof Promise ? inTime(outcome, this.signal, seconds).finally(() => clearTimeout(timer)) : outcome
      } finally {
        if (!waits) clearTimeout(timer)
      }
    },
  }
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal, seconds: number): Promise<T> {
  let graceTimer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => (graceTimer = setTimeout(() => reject(timeout(seconds)), graceMs)), { once: true })
  })
  // Whoever loses the race must not become an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(graceTimer)
  }
}

const timeout = (seconds: number) =>
  new SluiceError(
    'TIMEOUT',
    `No answer within ${seconds} s (server.requestTimeoutSeconds). If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.`,
  )
