import { chmodSync, closeSync, openSync } from 'node:fs'

/**
 * Creates the file where it is not there, for its owner alone. One that is there is not opened: as this process closed it again,
 * the system would take every lock that the process has on it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    chmodSync(file, 0o600)
  }
}
