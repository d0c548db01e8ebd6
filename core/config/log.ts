import { write, writeSync } from 'node:fs'
import pino, { type Logger } from 'pino'
import { maskUrls } from './mask.ts'
import { type Settings } from './settings.ts'
import { plainJson } from '../base/printable.ts'

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
  const lines = (ofProcess ??= createLines(process.stderr.fd))
  const keep = (line: string) => lines.keep(plainJson(mayHoldSecret.test(line) ? maskUrls(line) : line))
  return pino(
    { level: settings.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    { write: keep },
  )
}

/** A process has one. */
let ofProcess: ReturnType<typeof createLines> | undefined

/** How long a reader that has stopped may keep the process from ending. */
const maxExitMs = 1_000
const busyMs = 50

/**
 * Writes lines to a file, a pipe or a terminal whose reader may stop (Ctrl-S) or fail (a full disk): the server must not. What cannot be
 * written is lost. Buffered lines are written at the exit; a line that is being written then may appear twice. (pino's own destination tries
 * without end at the exit where the disk is full, and so keeps the process from ending.)
 * @param fd of `process.stderr`, which makes a pipe one that can be busy instead of one that blocks
 */
function createLines(fd: number): { keep(line: string): void } {
  let waiting: string[] = []
  let waitingBytes = 0
  let writing: Buffer | undefined

  const takeAll = () => {
    const all = Buffer.from(waiting.join(''))
    waiting = []
    waitingBytes = 0
    return all
  }

  function go(): void {
    if (waiting.length === 0) return
    writing = takeAll()
    writeRest()
  }

  function writeRest(): void {
    if (!writing) return
    write(fd, writing, (error, written) => {
      if (isBusy(error)) return void setTimeout(writeRest, busyMs)
      // After another fault the rest is lost, and later lines try again.
      writing = error ? undefined : writing?.subarray(written)
      if (writing && writing.length > 0) return writeRest()
      writing = undefined
      go()
    })
  }

  function writeAllNow(): void {
    let rest = Buffer.concat([writing ?? Buffer.alloc(0), takeAll()])
    for (const end = performance.now() + maxExitMs; rest.length > 0;) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
      }
    }
  }

  process.once('exit', writeAllNow)
  return {
    keep(line) {
      if (waitingBytes > maxBufferedBytes) return
      waiting.push(line)
      waitingBytes += line.length
      // All lines of a turn are written together.
      if (!writing && waiting.length === 1) setImmediate(() => writing || go())
    },
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')

/** Only some properties of an error: client libraries add requests and URLs with keys to theirs. */
function describeError(error: unknown): object {
  return describe(error, maxCauses)
}

function describe(error: unknown, causes: number): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && causes > 0 && { cause: describe(cause, causes - 1) }) }
}
