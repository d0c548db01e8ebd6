import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The multi-threaded build of libfaketime (https://github.com/wolfcw/libfaketime), where Debian and others put it. */
const name = 'libfaketimeMT.so.1'
const library = [
  ...(existsSync('/usr/lib') ? readdirSync('/usr/lib').map((folder) => path.join('/usr/lib', folder, 'faketime', name)) : []),
  ...['/usr/lib/faketime', '/usr/lib64/faketime', '/usr/local/lib/faketime'].map((folder) => path.join(folder, name)),
].find((file) => existsSync(file))

/** Without it there are no wrong clocks. */
export const missingFaketime =
  library === undefined ? `libfaketime is missing (${name}): "apt-get install faketime" on Debian and Ubuntu.` : undefined

/** The time of day of one process and of those that it starts. Their steady clocks stay right, as on a machine whose clock is set. */
export interface WrongClock {
  /** For the process. */
  readonly env: Readonly<Record<string, string>>
  /** The clock jumps, within a moment. */
  set(aheadSeconds: number): void
}

/** @throws Error that says how to get libfaketime */
export function createWrongClock(file: string, aheadSeconds = 0): WrongClock {
  if (library === undefined) throw new Error(missingFaketime)
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
  set(aheadSeconds)
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // It reads the file at every question for the time.
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  }
}
