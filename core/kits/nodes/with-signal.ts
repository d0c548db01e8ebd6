import { setMaxListeners } from 'node:events'

/** Waits for shared work only as long as this caller wants to; the work itself goes on. */
export function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const forget = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(forget)
  })
}

/** Calls back when the signal aborts, until the returned function is called. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // One signal bounds any number of calls under way: that is no leak, which Node would warn of from the eleventh on.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}
