import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const ps = (field: string, processId: number): string => {
  try {
    return execFileSync('ps', ['-o', `${field}=`, '-p', String(processId)], { encoding: 'utf8' }).trim()
  } catch {
    return '' // ps fails where there is no such process
  }
}

/** A process that ended and was not yet collected by its parent does not count. */
export const isAlive = (processId: number): boolean => !['', 'Z'].includes(ps('stat', processId).slice(0, 1))

/** By SIGSTOP. */
export const isStopped = (processId: number): boolean => ps('stat', processId).startsWith('T')

export const parentOf = (processId: number): number => Number(ps('ppid', processId))

/** The processes that a server started for its keys; 0 for one that is not there. */
export function signerOf(serverProcessId: number): { keeper: number; signer: number } {
  const all = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  const childOf = (parent: number, module: string): number => {
    const line = all.find((each) => new RegExp(`^\\s*\\d+\\s+${parent}\\s.*${module}`).test(each))
    return Number(line?.trim().split(/\s+/)[0] ?? 0)
  }
  const keeper = childOf(serverProcessId, 'signer-keeper')
  return { keeper, signer: keeper === 0 ? 0 : childOf(keeper, 'signer-process') }
}

/** Waits until something holds, and fails after half a minute. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 600) throw new Error('it did not come about within 30 s')
    await sleep(50)
  }
}

/** All writable memory of a process (Linux); undefined where this process may not look. */
function* memoryOf(processId: number): Generator<Buffer> {
  const memory = openSync(`/proc/${processId}/mem`, 'r')
  try {
    for (const line of readFileSync(`/proc/${processId}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      if (from === undefined || to === undefined) continue
      const start = BigInt(`0x${from}`)
      const chunk = Buffer.alloc(Number(BigInt(`0x${to}`) - start))
      try {
        yield chunk.subarray(0, readSync(memory, chunk, 0, chunk.length, start))
      } catch {
        // Some regions are the kernel's and cannot be read by anybody.
      }
    }
  } finally {
    closeSync(memory)
  }
}

/** Whether one of these stands in the writable memory of a process (Linux). */
export function memoryHolds(processId: number, wanted: readonly Buffer[]): boolean {
  for (const region of memoryOf(processId)) if (wanted.some((each) => region.includes(each))) return true
  return false
}
