import { SluiceError } from '../api/index.ts'

export const deadlineOf = (seconds: number): AbortSignal => AbortSignal.timeout(seconds * 1000)

/** The work's outcome, or TIMEOUT when the signal comes first; the work itself goes on to its own end. */
export async function withDeadline<T>(work: Promise<T>, signal: AbortSignal, seconds: number): Promise<T> {
  let abort = () => {}
  const deadline = new Promise<never>((_resolve, reject) => {
    abort = () => reject(timeout(seconds))
    signal.addEventListener('abort', abort, { once: true })
  })
  // Whoever loses the race must not become an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, deadline])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

const timeout = (seconds: number) =>
  new SluiceError('TIMEOUT', `No answer within ${seconds} s (server.requestTimeoutSeconds). If the request made a transaction, the same request with the same Idempotency-Key tells its outcome.`)
