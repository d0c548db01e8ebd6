import pino, { type Logger } from 'pino'
import { maskUrls } from './config/mask.ts'
import { type Settings } from './config/settings.ts'

/** The buffer for a reader that has stopped reading. When it is full, later lines are lost. */
const maxBufferedBytes = 4 * 1024 * 1024
/** What `maskUrls` masks: most lines have neither. */
const mayHoldSecret = /:\/\/|authorization|x-api-key|cookie/i
/** An error may be its own cause. */
const maxCauses = 5

/**
 * Writes JSON lines to standard error; standard output is for people. Of errors it writes the properties listed here, of URLs no secrets.
 */
export const createLog = ({ settings }: { settings: Pick<Settings, 'log'> }): Logger => {
  // The reader may stop (Ctrl-S at the terminal) or fail (a full disk); the server must not. Buffered lines are written at the exit; a line
  // that is being written then may appear twice.
  const lines = pino.destination({ fd: 2, sync: false, maxLength: maxBufferedBytes })
  lines.on('error', () => {})
  const write = (line: string) => void lines.write(mayHoldSecret.test(line) ? maskUrls(line) : line)
  return pino(
    { level: settings.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    { write },
  )
}

/** Only some properties of an error: client libraries add requests and URLs with keys to theirs. */
function describeError(error: unknown): object {
  return describe(error, maxCauses)
}

function describe(error: unknown, causes: number): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && causes > 0 && { cause: describe(cause, causes - 1) }) }
}
