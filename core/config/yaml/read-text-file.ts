import { readFileSync, statSync } from 'node:fs'

/** More than any configuration needs; a token list has its own bound. */
const maxBytes = 1_000_000

export type TextFile = { is: 'text'; text: string } | { is: 'absent' } | { is: 'bad'; problem: string; cure: string }

/** Reads a regular UTF-8 file. Whatever stands in the way comes back as a problem with its cure, never as a throw. */
export function readTextFile(file: string, limitBytes = maxBytes): TextFile {
  try {
    const stats = statSync(file)
    // A FIFO or a device would block the start for ever.
    if (!stats.isFile())
      return bad(stats.isDirectory() ? 'is a folder, not a file' : 'is not a regular file', `Put a file in its place, or remove it.`)
    if (stats.size > limitBytes) return bad(`is larger than ${limitBytes} bytes`, 'Put the right file in its place.')
    // The decoder drops a byte order mark.
    return { is: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) }
  } catch (error) {
    return failure(error)
  }
}

function failure(error: unknown): TextFile {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
      return { is: 'absent' }
    case 'EACCES':
    case 'EPERM':
      return bad(
        'cannot be read: permission denied',
        `Let the user that runs Sluice${process.getuid ? ` (uid ${process.getuid()})` : ''} read it.`,
      )
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return bad('is not UTF-8 text', 'Save it with the encoding UTF-8.')
    default:
      return bad(`cannot be read (${String(code ?? error)})`, 'Check the file and the disk that it is on.')
  }
}

function bad(problem: string, cure: string): TextFile {
  return { is: 'bad', problem, cure }
}
