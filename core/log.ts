import pino, { type Logger } from 'pino'
import { maskUrls } from './config/mask.ts'
import { type Settings } from './config/settings.ts'

/** More than this is not kept for a reader that stands still: later lines are lost. */
const mostBytesWaiting = 4 * 1024 * 1024
/** An error may be its own cause. */
const mostCauses = 5

/** Structured lines on standard error; standard output is for people. Of errors only what is listed here is written, of URLs nothing secret. */
export const createLog = ({ settings }: { settings: Pick<Settings, 'log'> }): Logger => {
  // Whoever reads may stand still (Ctrl-S at the terminal) or fail (a full disk); the server must not. What waits is written at the exit,
  // a line that is just being written perhaps twice.
  const lines = pino.destination({ fd: 2, sync: false, maxLength: mostBytesWaiting })
  lines.on('error', () => {})
  const write = (line: string) => void lines.write(line.includes('://') ? maskUrls(line) : line)
  return pino(
    { level: settings.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    { write },
  )
}

/** Not every property of an error: a client library hangs requests and URLs with keys on its own. */
function describeError(error: unknown): object {
  return describe(error, mostCauses)
}

function describe(error: unknown, causes: number): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && causes > 0 && { cause: describe(cause, causes - 1) }) }
}
