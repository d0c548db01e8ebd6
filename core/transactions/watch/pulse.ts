import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Gives the last value again when no new one came for so long: a chain without traffic may make no blocks at all.
 * The source ends when its own signal is aborted, for what waits for a value cannot be told to return.
 */
export async function* withPulse<T>(source: AsyncIterable<T>, pauseMs: number): AsyncGenerator<T, void> {
  const values = source[Symbol.asyncIterator]()
  let next = values.next()
  let last: { value: T } | undefined
  try {
    for (;;) {
      const waited = new AbortController()
      const pause = sleep(pauseMs, undefined, { signal: waited.signal }).catch(() => {})
      const came = await Promise.race([next, pause]).finally(() => waited.abort())
      if (came) {
        if (came.done) return
        last = { value: came.value }
        next = values.next()
      }
      if (last) yield last.value
    }
  } finally {
    // Not waited for: it comes after a value that may be long in coming. Whoever stops listening leaves that one behind.
    next.catch(() => {})
    values.return?.().catch(() => {})
  }
}
