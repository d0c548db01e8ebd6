// The requests to the signer that have no answer yet, of a server: each ends with one outcome.
import { SluiceError } from '../base/errors.ts'

/** Nothing can be signed now, and nothing was signed. */
export const unavailable = (message: string): SluiceError => new SluiceError('OVERLOADED', message, { retryAfterSeconds: 1 })

type Failure = Pick<SluiceError, 'name' | 'message'> & { details?: SluiceError['details'] }

/** An answer without a signature. */
export const failureOf = ({ name, message, details }: Failure): SluiceError =>
  name === 'OVERLOADED' ? new SluiceError(name, message, { details, retryAfterSeconds: 1 }) : new SluiceError(name, message, { details })

interface PendingCall<T> {
  resolve(answer: T): void
  reject(error: unknown): void
}

const nothingSigned = 'nothing was signed that could be sent'

/** The calls to the signer that have no answer yet. None waits longer than the timeout. @param unanswered what it means that no answer came */
export function createPendingCalls<T = Uint8Array>(timeoutMs: number, unanswered = nothingSigned) {
  const pending = new Map<number, PendingCall<T>>()
  let lastId = 0

  /** A call ends once: with its answer, at the timeout, or with the process. */
  const take = (id: number): PendingCall<T> | undefined => {
    const call = pending.get(id)
    pending.delete(id)
    return call
  }

  return {
    /** Calls `send` with a new id and waits for the answer. */
    call(send: (id: number) => void): Promise<T> {
      const id = ++lastId
      let timer: NodeJS.Timeout | undefined
      return new Promise<T>((resolve, reject) => {
        timer = setTimeout(() => {
          take(id)?.reject(unavailable(`The signer did not answer within ${timeoutMs / 1000} s: ${unanswered}.`))
        }, timeoutMs)
        pending.set(id, { resolve, reject })
        try {
          send(id)
        } catch (error) {
          take(id)?.reject(error)
        }
      }).finally(() => clearTimeout(timer))
    },
    resolve: (id: number, answer: T) => take(id)?.resolve(answer),
    reject: (id: number, error: Error) => take(id)?.reject(error),
    /** The process is gone: every call ends with a definite result. */
    rejectAll(message: string): void {
      for (const id of pending.keys()) take(id)?.reject(unavailable(message))
    },
  }
}
