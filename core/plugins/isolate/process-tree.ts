// What a process and all below it use, as Linux counts it.
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessUse {
  readonly processes: number
  /** Of all of them. The plugin-host service does not tell it: there the kernel bounds it. */
  readonly threads?: number
  readonly residentBytes: number
  /** Of all that run now. */
  readonly processorMs: number
}

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10
/** More are not counted: there are too many anyway. */
const maxProcesses = 64
/** All processes of a plugin have so many threads at most. Node takes about twelve for each. */
export const maxThreads = 64

/** What is too much of it, for people; undefined where nothing is, or nobody tells. */
export function excessOf(use: ProcessUse | undefined, most: Pick<ProcessUse, 'residentBytes' | 'processes'>): string | undefined {
  if (use && (use.threads ?? 0) > maxThreads) return `it started more than ${maxThreads} threads`
  if (use && use.residentBytes > most.residentBytes) return `it took more than ${most.residentBytes / 2 ** 20} MB of memory`
  if (use && use.processes > most.processes) return `it started more than ${most.processes} processes`
  return undefined
}

/** Undefined where the system does not tell. */
export function processUse(pid: number): ProcessUse | undefined {
  let [processes, threads, residentBytes, processorMs] = [0, 0, 0, 0]
  for (const each of [pid, ...processesBelow(pid)]) {
    const one = useOf(each)
    if (!one) continue
    processes += 1
    threads += one.threads
    residentBytes += one.residentBytes
    processorMs += one.processorMs
  }
  return processes === 0 ? undefined : { processes, threads, residentBytes, processorMs }
}

/** All that a process has started and that has not ended, up to a number that is too many anyway. */
export function processesBelow(pid: number): readonly number[] {
  const found: number[] = []
  const left = [pid]
  for (let each = left.pop(); each !== undefined && found.length < maxProcesses; each = left.pop())
    for (const thread of threadsOf(each)) {
      const children = (readText(`/proc/${each}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number)
      found.push(...children)
      left.push(...children)
    }
  return found
}

function useOf(pid: number): { isEnded: boolean; user: number; threads: number; residentBytes: number; processorMs: number } | undefined {
  const status = readText(`/proc/${pid}/status`)
  if (status === undefined) return undefined
  // After the name: state, ten numbers, and then the ticks in the process and in the kernel.
  const stat = readText(`/proc/${pid}/stat`) ?? ''
  const [inProcess = 0, inKernel = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return {
    isEnded: /^State:\t[ZX]/m.test(status),
    user: Number(/^Uid:\t(\d+)/m.exec(status)?.[1]),
    threads: Number(/^Threads:\t(\d+)$/m.exec(status)?.[1] ?? 1),
    residentBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
    processorMs: (inProcess + inKernel) * tickMs,
  }
}

/** What all processes use that this one sees and that have not ended, by the number of their user. */
export function usesByUser(): Map<number, ProcessUse> {
  const uses = new Map<number, ProcessUse>()
  for (const name of readdirSync('/proc')) {
    const one = /^\d+$/.test(name) ? useOf(Number(name)) : undefined
    if (!one || one.isEnded) continue
    const { processes = 0, residentBytes = 0, processorMs = 0 } = uses.get(one.user) ?? {}
    uses.set(one.user, {
      processes: processes + 1,
      residentBytes: residentBytes + one.residentBytes,
      processorMs: processorMs + one.processorMs,
    })
  }
  return uses
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
