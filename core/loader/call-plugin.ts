import { SluiceError, type Log } from '../contracts/index.ts'

/** The plugin whose code is called. */
export interface Callee {
  readonly plugin: string
  readonly log: Log
}

/**
 * Calls a plugin's verb so that whatever it does harms this request only. Its SluiceErrors go to the caller as they
 * are; anything else that it throws becomes UNKNOWN_ERROR, and the log has what it was. When the signal aborts, the
 * call is left behind and the caller gets TIMEOUT.
 */
export function callPlugin<T>({ plugin, log }: Callee, verb: string, call: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      log.warn({ plugin, verb }, 'left behind at the deadline of the request')
      reject(
        new SluiceError(
          'TIMEOUT',
          `The connector or chain '${plugin}' did not answer in time. Try again; if it was a trade, with the same Idempotency-Key.`,
        ),
      )
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    // After it was left behind, this changes nothing any more, but a defect is still logged.
    const succeed = (value: T) => {
      signal.removeEventListener('abort', leave)
      resolve(value)
    }
    const fail = (thrown: unknown) => {
      signal.removeEventListener('abort', leave)
      // It gave up as it was told to.
      if (signal.aborted && thrown === signal.reason) return
      reject(asCallersError({ plugin, log }, verb, thrown))
    }
    try {
      const outcome = call()
      // A promise of any make: plugins bring their own.
      if (isThenable(outcome)) Promise.resolve(outcome).then(succeed, fail)
      else succeed(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** The same for a verb that answers at once. */
export function callPluginSync<T>(callee: Callee, verb: string, call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw asCallersError(callee, verb, thrown)
  }
}

function asCallersError({ plugin, log }: Callee, verb: string, thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown
  log.warn({ plugin, verb, err: thrown }, 'a defect of the plugin: it threw what is no SluiceError, or gave what is no answer')
  return new SluiceError(
    'UNKNOWN_ERROR',
    `The connector or chain '${plugin}' has failed. The server's log has the reason under this requestId.`,
    { cause: thrown },
  )
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
