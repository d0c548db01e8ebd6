import { setMaxListeners } from 'node:events'

/**
 * Aborts the controller when the signal is aborted, until the returned function is called. `AbortSignal.any` would leave an entry in each of its
 * signals for as long as those live, which for a server's is weeks: https://github.com/nodejs/node/issues/55351.
 */
export function abortWith(signal: AbortSignal, controller: AbortController): () => void {
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  // One signal ends any number of works under way.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}

/** Does work with a signal that is aborted with the given one, and when the time is over: then with a `TimeoutError`, as `AbortSignal.timeout` is. */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const late = () => over.abort(new DOMException('It took too long.', 'TimeoutError'))
  const timer = setTimeout(late, milliseconds).unref()
  const letGo = signal && abortWith(signal, over)
  try {
    return await work(over.signal)
  } finally {
    clearTimeout(timer)
    letGo?.()
  }
}
