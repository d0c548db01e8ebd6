import type { Clock } from '../clock.ts'

const minuteMs = 60_000

/** What each address may ask for in a minute. */
export interface Weights {
  /** False where it is too much. */
  take(from: string, weight: number): boolean
}

export function createWeights(clock: Clock, rules: { readonly weightPerMinute: number }): Weights {
  const byAddress = new Map<string, { since: number; used: number }>()
  return {
    take: (from, weight) => {
      const now = clock.now()
      const known = byAddress.get(from)
      const window = known && now - known.since < minuteMs ? known : { since: now, used: 0 }
      byAddress.set(from, window)
      if (window.used + weight > rules.weightPerMinute) return false
      window.used += weight
      return true
    },
  }
}
