import type { At } from 'sluice/plugin'
import { object, shape, whole } from '../shape.ts'
import type { Ask } from '../api.ts'

const status = shape(object({ time: whole }))
/** Clocks drift slowly. */
const trustedMs = 60_000

/** The exchange's clock: nonces and the end of an action's time are judged by it. */
export interface ExchangeClock {
  /** Asks it. Milliseconds since the Unix epoch. */
  ask(at: At): Promise<number>
  /** By how much it is ahead of this machine's; asks where that was not asked for a while. */
  aheadMs(at: At): Promise<number>
  /** As far as is known. */
  nowMs(): number
  /** It said so, beside something else: it is that late at least. */
  heard(timeMs: number): void
}

export function createClock(ask: Ask): ExchangeClock {
  let ahead = 0
  let askedAt: number | undefined

  async function askTime(at: At): Promise<number> {
    const before = Date.now()
    const { time } = await ask({ type: 'exchangeStatus' }, status, at)
    const after = Date.now()
    ahead = Math.round(time - (before + after) / 2)
    askedAt = after
    return time
  }

  return {
    ask: askTime,
    async aheadMs(at) {
      const ageMs = askedAt === undefined ? Infinity : Math.abs(Date.now() - askedAt)
      if (ageMs > trustedMs) await askTime(at)
      return ahead
    },
    nowMs: () => Date.now() + ahead,
    heard(timeMs) {
      ahead = Math.max(ahead, timeMs - Date.now())
    },
  }
}
