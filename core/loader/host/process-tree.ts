// What a process and all below it use, as Linux counts it.
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessUse {
  readonly processes: number
  readonly residentBytes: number
  /** Of all that run now. */
  readonly processorMs: number
}

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10
/** More are not counted: there are too many anyway. */
const maxProcesses = 64

/** Undefined where the system does not tell. */
export function processUse(pid: number): ProcessUse | undefined {
  let [processes, residentBytes, processorMs] = [0, 0, 0]
  const left = [pid]
  for (let each = left.pop(); each !== undefined && processes < maxProcesses; each = left.pop()) {
    const status = readText(`/proc/${each}/status`)
    if (status === undefined) continue
    processes += 1
    residentBytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    // After the name: state, ten numbers, and then the ticks in the process and in the kernel.
    const stat = readText(`/proc/${each}/stat`) ?? ''
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    processorMs += (user + system) * tickMs
    for (const thread of threadsOf(each))
      left.push(...(readText(`/proc/${each}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number))
  }
  return processes === 0 ? undefined : { processes, residentBytes, processorMs }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Undefined where the process is gone. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}
