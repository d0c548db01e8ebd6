/** Waits for work only until the signal is aborted, whose reason it throws then; the work may go on. */
export function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      // Nobody waits for it: that it fails is nobody's business.
      work.catch(() => {})
      return reject(signal.reason)
    }
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
