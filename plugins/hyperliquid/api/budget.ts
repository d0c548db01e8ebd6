import { SluiceError } from 'sluice/plugin'

/** What actions may still take when questions took all that they may. */
const keptForActions = 1 / 6

/** How much may still be asked of the exchange, by its own weights: an allowance per minute that fills up steadily. */
export interface Budget {
  /** @throws SluiceError RATE_LIMIT where it is used up: nothing was asked */
  take(weight: number, what: 'question' | 'action'): void
  /** What an answer cost beyond its question. */
  also(weight: number): void
  /** The exchange says that it is used up, whatever was counted. */
  exhausted(): void
}

export function createBudget(perMinute: number, nowMs: () => number = Date.now): Budget {
  const perMs = perMinute / 60_000
  let left = perMinute
  let countedAt = nowMs()

  function fill(): void {
    const now = nowMs()
    left = Math.min(perMinute, left + Math.max(0, now - countedAt) * perMs)
    countedAt = now
  }

  return {
    take(weight, what) {
      fill()
      const lacking = weight - left + (what === 'question' ? perMinute * keptForActions : 0)
      if (lacking > 0) {
        const retryAfterSeconds = Math.max(1, Math.ceil(lacking / perMs / 1000))
        throw new SluiceError('RATE_LIMIT', 'What Hyperliquid answers to one IP address within a minute is used up. Try again later.', {
          retryAfterSeconds,
        })
      }
      left -= weight
    },
    also(weight) {
      fill()
      left -= weight
    },
    exhausted() {
      fill()
      left = Math.min(left, 0)
    },
  }
}
