import { SluiceError } from '../../errors.ts'

/** Nothing can be signed now, and nothing was. */
export const unavailable = (message: string): SluiceError => new SluiceError('SERVICE_UNINITIALIZED', message, { retryAfterSeconds: 1 })

interface OpenCall {
  resolve(signature: Uint8Array | undefined): void
  reject(error: unknown): void
  readonly survivesRestart: boolean
}

export interface OpenCalls {
  /** Calls `send` with a new id, and waits for what becomes of it. `survivesRestart`: it is done even when the signer ends before it says so. */
  ask(send: (id: number) => void, survivesRestart: boolean): Promise<Uint8Array | undefined>
  resolve(id: number, signature: Uint8Array | undefined): void
  reject(id: number, error: Error): void
  /** The other side is gone: every call ends in a definite way. */
  endAll(message: string): void
}

/** The calls to another process that have no answer yet; none waits longer than the timeout. */
export function createOpenCalls(timeoutMs: number): OpenCalls {
  const open = new Map<number, OpenCall>()
  let lastId = 0

  const take = (id: number): OpenCall | undefined => {
    const call = open.get(id)
    open.delete(id)
    return call
  }

  return {
    ask(send, survivesRestart) {
      const id = ++lastId
      return new Promise<Uint8Array | undefined>((resolve, reject) => {
        const timer = setTimeout(() => {
          take(id)?.reject(unavailable(`The signer did not answer within ${timeoutMs / 1000} s: nothing was signed that could be sent.`))
        }, timeoutMs)
        open.set(id, {
          resolve: (signature) => {
            clearTimeout(timer)
            resolve(signature)
          },
          reject: (error) => {
            clearTimeout(timer)
            reject(error)
          },
          survivesRestart,
        })
        try {
          send(id)
        } catch (error) {
          take(id)?.reject(error)
        }
      })
    },
    resolve: (id, signature) => take(id)?.resolve(signature),
    reject: (id, error) => take(id)?.reject(error),
    endAll(message) {
      for (const id of open.keys()) {
        const call = take(id)
        if (call?.survivesRestart) call.resolve(undefined)
        else call?.reject(unavailable(message))
      }
    },
  }
}
