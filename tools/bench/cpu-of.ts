import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second for whoever asks, whatever its own tick is (USER_HZ, proc(5)). */
const msPerTick = 10

/** Processor time of a process with all its threads, in milliseconds; NaN where the system has no /proc. */
export function cpuMsOf(processId: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The name, in parentheses, may hold anything; utime and stime are fields 14 and 15 of the whole.
    const [utime, stime] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return (Number(utime) + Number(stime)) * msPerTick
  } catch {
    return Number.NaN
  }
}
