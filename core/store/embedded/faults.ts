import Libsql from 'libsql'
import type { Fault, Faults } from '../store.ts'

/** Faults that we detect ourselves. */
export class EmbeddedFault extends Error {
  readonly code: 'SQLITE_CANTOPEN' | 'SLUICE_MOVED' | 'SLUICE_ENDED'

  constructor(code: EmbeddedFault['code'], cause?: unknown) {
    super(code, { cause })
    this.code = code
  }
}

/** By primary result code: https://www.sqlite.org/rescode.html. Misuse and violated constraints are absent: the statement is at fault. */
const reasons: Readonly<Record<string, string>> = {
  FULL: 'the disk is full',
  IOERR: 'the disk refuses to read or write (a fault, a quota or a limit)',
  READONLY: 'its file may only be read',
  CANTOPEN: 'its file cannot be opened',
  PERM: 'its file may not be opened',
  AUTH: 'its file may not be opened',
  CORRUPT: 'its file is damaged: move sluice.db away and start anew (docs/failures.md)',
  NOTADB: 'its file is damaged: move sluice.db away and start anew (docs/failures.md)',
  BUSY: 'another program has locked its file',
  LOCKED: 'another program has locked its file',
  PROTOCOL: 'another program has locked its file',
  NOMEM: 'the memory is full',
  NOLFS: 'its disk does not support large files',
  TOOBIG: 'the data is too large',
  MOVED: 'its file was moved or removed while in use: put it back, or restart the server',
  ENDED: 'the database rolled the transaction back',
}

export const embeddedFaults: Faults = {
  of(error): Fault | undefined {
    const code = codeOf(error)
    const reason = reasons[code]
    if (reason === undefined) return undefined
    // A full disk refused the commit's last record, and without it there is no commit. After a failed fsync that record is in the file:
    // if the process dies before the next write overwrites it, the commit is found there.
    return { reason, leavesCommitOpen: code !== 'FULL' && code !== 'MOVED' && code !== 'ENDED' }
  },
  /** There is only one connection. */
  isCollision: () => false,
}

/** SQLITE_IOERR_FSYNC → IOERR */
function codeOf(error: unknown): string {
  if (!(error instanceof Libsql.SqliteError || error instanceof EmbeddedFault)) return ''
  return /^(?:SQLITE|SLUICE)_([A-Z]+)/.exec(error.code)?.[1] ?? ''
}
