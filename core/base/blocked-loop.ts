// Whether the event loop of a process is blocked, for whoever watches it from another thread or process and hears its heartbeats.
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** How long the main thread of a process has run on a processor, and has waited for one. */
interface Schedule {
  readonly at: number
  readonly ranMs: number
  readonly waitedMs: number
}

interface BlockedLoopOptions {
  /** Of the process, or `self` for that of a thread that watches its own. */
  readonly processId: number | 'self'
  readonly stallMs: number
  /** How often `isBlocked` is asked. */
  readonly beatMs: number
}

/** Asked once a beat, with whether the event loop gave a sign of life since the last time, or must not be watched now. */
export function createBlockedLoop({ processId, stallMs, beatMs }: BlockedLoopOptions): { isBlocked(heard: boolean): boolean } {
  /** Undefined after a sign of life. */
  let blockedMs: number | undefined
  let schedule: Schedule | undefined

  /** Without what the main thread waited for a processor: on a busy machine it runs late, and nothing blocks it. */
  function blockedSince(before: Schedule | undefined, after: Schedule | undefined): number {
    if (!before || !after) return beatMs
    const passedMs = after.at - before.at
    // A missed beat rather than the time where the machine slept, or the process was stopped: who watches stood still as well.
    return (passedMs > stallMs / 2 ? beatMs : passedMs) - (after.waitedMs - before.waitedMs)
  }

  return {
    isBlocked(heard) {
      const state = heard ? undefined : stateOf(processId)
      if (state === undefined || isStopped(state)) {
        blockedMs = undefined
        return false
      }
      const [before, after] = [schedule, scheduleOf(processId)]
      schedule = after
      // The system is asked only where a sign of life is missing: what passed before the first such beat is not known.
      blockedMs = blockedMs === undefined ? 0 : Math.max(0, blockedMs + blockedSince(before, after))
      if (blockedMs < stallMs) return false
      // The system tells of a wait when it is over.
      const isWaiting = before && after && before.ranMs === after.ranMs && state === 'R'
      return !isWaiting
    },
  }
}

/** Linux has it, in nanoseconds. https://docs.kernel.org/scheduler/sched-stats.html, /proc/<pid>/schedstat */
function scheduleOf(processId: number | 'self'): Schedule | undefined {
  try {
    const [ranNs = 0, waitedNs = 0] = readFileSync(`/proc/${processId}/schedstat`, 'latin1').split(' ').map(Number)
    return ranNs > 0 ? { at: performance.now(), ranMs: ranNs / 1e6, waitedMs: waitedNs / 1e6 } : undefined
  } catch {
    return undefined
  }
}

/** Of the main thread: R where it runs or waits for a processor, T or t where it was stopped. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function stateOf(processId: number | 'self'): string {
  try {
    const status = readFileSync(`/proc/${processId}/stat`, 'latin1')
    return status.charAt(status.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}

const isStopped = (state: string): boolean => state === 'T' || state === 't'

/** Whether a process was stopped by a signal or a debugger, and does nothing. Only Linux tells: elsewhere such a process is one that does not answer. */
export const isStoppedProcess = (processId: number): boolean => isStopped(stateOf(processId))

interface BlockedProcess {
  readonly processId: number
  readonly stallSeconds: number
  /** What runs in it. */
  readonly running: string
}

/** The line of the log, in the logger's form: the logger itself is of the process that is blocked. */
export function blockedLine({ processId, stallSeconds, running }: BlockedProcess): string {
  const msg = `event loop blocked for ${stallSeconds} s: ${running}. The process ends; its supervisor starts it again.`
  return JSON.stringify({ level: 60, time: Date.now(), pid: processId, hostname: hostname(), msg })
}
