import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for work only until the signal is aborted, whose reason it throws then; the work may go on. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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

/** Something that may change, for those who wait for it. */
interface Condition {
  notifyAll(): void
  /** Until it is told next, or the time is over. @throws the signal's reason */
  wait(mostMs: number, signal: AbortSignal): Promise<void>
}

export function createCondition(): Condition {
  let tell = () => {}
  let told = new Promise<void>((resolve) => (tell = resolve))
  return {
    notifyAll() {
      tell()
      told = new Promise<void>((resolve) => (tell = resolve))
    },
    async wait(mostMs, signal) {
      const over = new AbortController()
      const late = sleep(mostMs, undefined, { signal: over.signal }).catch(() => {})
      await abortable(Promise.race([told, late]), signal).finally(() => over.abort())
    },
  }
}

/** Wakes one who waits; rung while nobody waits, it is heard at once by who waits next. */
export interface Notifier {
  notify(): void
  /** Whether it was rung within the time. */
  wait(ms: number): Promise<boolean>
}

export function createNotifier(): Notifier {
  let rung = false
  let wake = () => {}
  return {
    notify() {
      rung = true
      wake()
    },
    async wait(ms) {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const heard = rung
      rung = false
      wake = () => {}
      return heard
    },
  }
}

/** When something that failed is tried again: at once the first time, then less and less often. */
export interface Backoff {
  due(): boolean
  failed(): void
  /** Not before then. */
  postpone(ms: number): void
  reset(): void
  /** After so many failures in a row as there were. */
  readonly pauseMs: number
}

export function createBackoff(firstMs = 500, mostMs = 30_000): Backoff {
  let failures = 0
  let notBefore = 0
  const pauseMs = () => Math.min(mostMs, firstMs * 2 ** Math.max(0, failures - 1))
  return {
    due: () => performance.now() >= notBefore,
    failed() {
      failures += 1
      notBefore = performance.now() + pauseMs()
    },
    postpone(ms) {
      notBefore = performance.now() + ms
    },
    reset() {
      failures = 0
      notBefore = 0
    },
    get pauseMs() {
      return pauseMs()
    },
  }
}

/**
 * Aborts the controller when the signal is aborted, until the returned function is called. `AbortSignal.any` would leave an entry in each of its
 * signals for as long as those live, which for a server's is weeks: https://github.com/nodejs/node/issues/55351.
 */
export function linkAbort(signal: AbortSignal, controller: AbortController): () => void {
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
  const letGo = signal && linkAbort(signal, over)
  try {
    return await work(over.signal)
  } finally {
    clearTimeout(timer)
    letGo?.()
  }
}
