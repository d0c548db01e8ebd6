import { setTimeout as sleep } from 'node:timers/promises'
import type { Head } from 'sluice/plugin'
import type { ExchangeClock } from './api/clock.ts'
import type { OwnNews } from './order-updates.ts'

const everyMs = 2_000
/** Each look weighs on the limit: so many may come before their time, and one more with each that came in time. */
const mostEarly = 3

/**
 * When to look at what is open: at once where the exchange tells of it, and by the clock. What is sent is answered at once, so that only
 * lost answers are looked for.
 */
export function createHeads(clock: ExchangeClock, news: OwnNews, pauseMs = everyMs) {
  return async function* heads(signal: AbortSignal): AsyncGenerator<Head> {
    let early = mostEarly
    try {
      while (!signal.aborted) {
        const timestamp = Math.floor(clock.nowMs() / 1000)
        yield { number: BigInt(timestamp), timestamp }
        const came = early > 0 ? await news.come(pauseMs, signal) : await sleep(pauseMs, false, { signal }).catch(() => false)
        early = came ? early - 1 : Math.min(mostEarly, early + 1)
      }
    } finally {
      news.end()
    }
  }
}
