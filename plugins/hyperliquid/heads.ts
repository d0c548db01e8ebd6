import { setTimeout as sleep } from 'node:timers/promises'
import type { Head } from 'sluice/plugin'
import type { ExchangeClock } from './api/clock.ts'

const everyMs = 2_000

/** When to look at what is open: by the clock, since what is sent is answered at once and only lost answers are looked for. */
export async function* heads(clock: ExchangeClock, signal: AbortSignal): AsyncGenerator<Head> {
  while (!signal.aborted) {
    const timestamp = Math.floor(clock.nowMs() / 1000)
    yield { number: BigInt(timestamp), timestamp }
    await sleep(everyMs, undefined, { signal }).catch(() => {})
  }
}
