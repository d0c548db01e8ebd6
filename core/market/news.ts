import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../async.ts'

/** Something that may change, for those who wait for it. */
export interface News {
  tell(): void
  /** Until it is told next, or the time is over. @throws the signal's reason */
  wait(mostMs: number, signal: AbortSignal): Promise<void>
}

export function createNews(): News {
  let tell = () => {}
  let told = new Promise<void>((resolve) => (tell = resolve))
  return {
    tell() {
      tell()
      told = new Promise<void>((resolve) => (tell = resolve))
    },
    async wait(mostMs, signal) {
      const over = new AbortController()
      const late = sleep(mostMs, undefined, { signal: over.signal }).catch(() => {})
      await within(Promise.race([told, late]), signal).finally(() => over.abort())
    },
  }
}
