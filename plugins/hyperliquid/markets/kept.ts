import type { At } from 'sluice/plugin'

/** What was asked for not long ago, asked for once however many want it. What failed is not kept. */
export function createKept<T>(seconds: number, load: (at: At) => Promise<T>): (at: At) => Promise<T> {
  let kept: { value: T; atMs: number } | undefined
  let loading: Promise<T> | undefined

  async function fresh(): Promise<T> {
    // Whoever asked first may go away; the others still want it.
    const value = await load({ signal: AbortSignal.timeout(15_000) })
    kept = { value, atMs: Date.now() }
    return value
  }

  return async ({ signal }) => {
    const ageMs = kept ? Math.abs(Date.now() - kept.atMs) : Infinity
    if (kept && ageMs < seconds * 1000) return kept.value
    loading ??= fresh().finally(() => {
      loading = undefined
    })
    signal.throwIfAborted()
    let abort = () => {}
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
    })
    return Promise.race([loading, aborted]).finally(() => signal.removeEventListener('abort', abort))
  }
}
