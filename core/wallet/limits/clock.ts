// The signer's clock for its windows: it never goes backwards, and a change of the system's clock moves it at a start of the machine only.
import { readFileSync } from 'node:fs'

/** Where time comes from. */
export interface TimeSources {
  /** The system's clock, which anybody with the right to may set. Milliseconds since the Unix epoch. */
  wallMs(): number
  /** Since an unknown point, the same one for as long as the machine runs. */
  steadyMs(): number
  /** Of this start of the machine; undefined where the system does not tell. */
  readonly boot: string | undefined
}

/** A time that was noted, with what is needed to go on from it. Plain JSON. */
export interface NotedTime {
  readonly ms: number
  readonly steadyMs: number
  readonly boot?: string | undefined
}

export interface SignerClock {
  /** Now, for the count. */
  now(): NotedTime
}

/**
 * Goes on from the last time that was noted. While the machine runs only its steady clock counts, over starts of the signer too. After a start of the
 * machine it is the later one of that time and the system's clock.
 */
export function createSignerClock(last: NotedTime | undefined, sources: TimeSources): SignerClock {
  const beganSteadyMs = sources.steadyMs()
  const isSameStart = last !== undefined && last.boot !== undefined && last.boot === sources.boot
  const beganMs = isSameStart ? last.ms + Math.max(0, beganSteadyMs - last.steadyMs) : Math.max(last?.ms ?? 0, sources.wallMs())
  return {
    now() {
      const steadyMs = sources.steadyMs()
      return { ms: beganMs + Math.max(0, steadyMs - beganSteadyMs), steadyMs, ...(sources.boot !== undefined && { boot: sources.boot }) }
    },
  }
}

/** Of this machine. Only Linux names its starts: elsewhere each start of the signer looks at the system's clock. */
export function systemTime(): TimeSources {
  let boot: string | undefined
  try {
    boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // The system does not tell.
  }
  return { wallMs: Date.now, steadyMs: () => Number(process.hrtime.bigint() / 1_000_000n), boot }
}
