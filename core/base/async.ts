import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { chargeAlike } from './fair-turns.ts'

/**
 * Does work with a signal that aborts when the given one does, and when the time is over: then with a `TimeoutError`, as that of
 * `AbortSignal.timeout`. The work has to heed its signal: this function waits until it settles.
 */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const expire = () => controller.abort(new DOMException(`not done after ${milliseconds / 1000} s`, 'TimeoutError'))
  const timer = setTimeout(expire, milliseconds).unref()
  const unlink = signal && linkAbort(signal, controller)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    unlink?.()
  }
}

/**
 * Applies a function to a value or to what a promise resolves to. A price from memory so costs no promise and no turn of the event loop.
 */
export const after = <T, R>(value: T | Promise<T>, make: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(make) : make(value)

/** Waits for work for at most this time, then gives what `onTimeout` returns or throws what it throws. The work goes on. */
export async function withTimeout<T, L>(work: Promise<T>, milliseconds: number, onTimeout: () => L): Promise<T | L> {
  const settled = new AbortController()
  return Promise.race([work, sleep(milliseconds, undefined, { signal: settled.signal }).then(onTimeout)]).finally(() => settled.abort())
}

/** Whether somebody's wait was ended, by a deadline or because nobody needs the result any more: no defect, and it says nothing of what was asked. */
export const isAbort = (thrown: unknown): boolean => thrown instanceof Error && isAbortName(thrown.name)

/** As the platform names them: https://dom.spec.whatwg.org/#interface-AbortSignal; errors of Node's timers have the first, too. */
export const isAbortName = (name: unknown): name is 'AbortError' | 'TimeoutError' => name === 'AbortError' || name === 'TimeoutError'

/** Waits for work until the signal aborts, and then throws the signal's reason. The work goes on. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      // Nobody waits for the work, so its failure must not become an unhandled rejection.
      work.catch(() => {})
      return reject(signal.reason)
    }
    const stopWaiting = () => reject(signal.reason)
    // One signal may end any number of waits. Node warns from the eleventh listener on.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', stopWaiting, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stopWaiting))
  })
}

/** Waits for this time, or until the signal aborts; never rejects. With `ref: false` it does not keep the process alive. */
export async function pause(milliseconds: number, signal?: AbortSignal, { ref = true }: { ref?: boolean } = {}): Promise<void> {
  await sleep(milliseconds, undefined, { ref, ...(signal && { signal }) }).catch(() => {})
}

/**
 * Aborts the controller when the signal aborts, until the returned function is called. `AbortSignal.any` would leave an entry in each of its
 * signals for as long as those live, which is weeks for a server's: https://github.com/nodejs/node/issues/55351.
 */
export function linkAbort(signal: AbortSignal, controller: AbortController): () => void {
  chargeAlike(controller.signal, signal)
  return whenAborted(signal, (reason) => controller.abort(reason))
}

/** Does this when the signal aborts, at once where it has, until the returned function is called. */
export function whenAborted(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const abort = () => act(signal.reason)
  if (signal.aborted) abort()
  // One signal may end any number of operations.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}

/** Runs work in sequence, in the order of the calls. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}

/** So many places for work that takes time, in the order of the calls. Who waits for one gets what passes it on, however often that is called. */
export function createPlaces(most: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let used = 0
  return async () => {
    if (used < most) used += 1
    // Its place is passed on by the one before.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let isPassedOn = false
    return () => {
      if (isPassedOn) return
      isPassedOn = true
      const next = waiting.shift()
      if (next) next()
      else used -= 1
    }
  }
}

/**
 * Reads one after the other, so that what was read before a change never comes after what was read behind it. Who asks gets a reading that begins
 * then or later, and all who ask while one is under way share the next one.
 */
export function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let next: Promise<T> | undefined
  function begin(): Promise<T> {
    next = undefined
    current = read().finally(() => (current = undefined))
    return current
  }
  return () => next ?? (current ? (next = current.then(begin, begin)) : begin())
}

/** Something that may change. Any number of readers may wait for the next change. */
export interface Condition {
  notifyAll(): void
  /** Until the next notification, or until the time is over. @throws the signal's reason */
  wait(maxMs: number, signal: AbortSignal): Promise<void>
}

export function createCondition(): Condition {
  let notify = () => {}
  let notified = new Promise<void>((resolve) => (notify = resolve))
  return {
    notifyAll() {
      notify()
      notified = new Promise<void>((resolve) => (notify = resolve))
    },
    wait: (maxMs, signal) =>
      abortable(
        withTimeout(notified, maxMs, () => {}),
        signal,
      ),
  }
}

/** Wakes its one reader. A notification that comes while the reader does not wait ends its next wait at once. */
export interface Notifier {
  notify(): void
  /** Whether a notification came within the time. */
  wait(ms: number): Promise<boolean>
}

export function createNotifier(): Notifier {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    async wait(ms) {
      if (!isNotified)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const came = isNotified
      isNotified = false
      wake = () => {}
      return came
    },
  }
}

/** When to try again what failed: at once after a reset, then less and less often. */
export interface Backoff {
  due(): boolean
  failed(): void
  /** Makes the next attempt due in this time, whatever came before. */
  postpone(ms: number): void
  reset(): void
  /** The pause after as many failures in a row as there were. */
  readonly pauseMs: number
}

export function createBackoff(firstMs = 500, maxMs = 30_000): Backoff {
  let failures = 0
  let notBefore = 0
  const pauseMs = () => Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1))
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
