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
