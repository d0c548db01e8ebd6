import pino, { type Logger } from 'pino'
import type { Settings } from './config/index.ts'

/** Structured lines on standard error; standard output is for people. Of errors only what is listed here is written. */
export const createLog = ({ settings }: { settings: Pick<Settings, 'log'> }): Logger =>
  pino({ level: settings.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } }, pino.destination({ fd: 2, sync: true }))

/** Not every property of an error: a client library hangs requests and URLs with keys on its own. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}
