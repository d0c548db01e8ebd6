// No core file of a process that has keys, a passphrase or a certificate's key in its memory.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/** Linux: which parts of the memory a core has (`core(5)`). Processes that are started from here inherit it. */
const filterFile = '/proc/self/coredump_filter'
const limitsFile = '/proc/self/limits'

/**
 * Makes a crash of this process write nothing of its memory, as far as the system can. On Linux the limit of core files becomes 0; and because the
 * kernel gives a core to a program of `kernel.core_pattern` whatever that limit is, the core has no memory in it.
 * @returns why core files are still possible; undefined where they are not, and on systems that do not tell
 */
export function refuseCoreFiles(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const unfiltered = filterOut()
  // A Node process cannot set its own limits.
  if (coreLimit() !== '0') spawnSync('prlimit', ['--pid', String(process.pid), '--core=0:0'], { stdio: 'ignore' })
  if (coreLimit() === '0' || !unfiltered) return undefined
  return 'a crash of this process may write its memory to a core file: start it with `ulimit -c 0` (systemd: LimitCORE=0)'
}

/** @returns whether it could not be set */
function filterOut(): boolean {
  try {
    writeFileSync(filterFile, '0')
    return false
  } catch {
    return true
  }
}

/** The limit in force: a number of bytes, or "unlimited". */
function coreLimit(): string | undefined {
  try {
    return /^Max core file size\s+(\S+)/m.exec(readFileSync(limitsFile, 'latin1'))?.[1]
  } catch {
    return undefined
  }
}

/** The command that runs a program with a core limit of 0, also as the limit that it can set for itself. */
export const withoutCoreFiles = (program: string, args: readonly string[]): readonly [string, readonly string[]] =>
  process.platform === 'win32' ? [program, args] : ['/bin/sh', ['-c', 'ulimit -c 0; exec "$0" "$@"', program, ...args]]
