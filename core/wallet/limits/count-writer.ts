// Goes on with the signer's count: what is signed is in the log, and flushed, before the signature leaves. One process does.
import { constants, fstatSync, readSync, statSync, writeSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import {
  chained,
  CountError,
  countFolder,
  headFile,
  logFile,
  lost,
  readHead,
  readLog,
  slotBytes,
  slotOf,
  textOf,
  unusable,
  writeLog,
} from './count-file.ts'
import type { NotedTime } from './clock.ts'
import type { Charge, CountedCharge } from './counts.ts'

/** There is no room for the count. That ends by itself: the writer looks for room. */
export class FullDiskError extends CountError {
  override readonly name = 'FullDiskError'
}

const noRoom = (folder: string): FullDiskError =>
  new FullDiskError(`the signer's count of what it signed cannot be written: the disk of ${folder} is full; it goes on when there is room`)

export interface CountWriter {
  /** What counts from before, from the earliest to the latest. */
  readonly charges: readonly CountedCharge[]
  readonly last: NotedTime | undefined
  /** Settles when it is on the disk. @throws CountError; then nothing is written any more, or until there is room */
  append(charge: Charge, time: NotedTime): Promise<void>
  /** Why nothing is written now. */
  problem(): CountError | undefined
  close(): Promise<void>
}

interface CountWriterOptions {
  /** What counts, of all that was appended: what counts no more is left out of the log in time. */
  readonly live: () => readonly CountedCharge[]
  /** The log is written anew when it has so many lines more than twice what counts. */
  readonly spareLines?: number
  /** How often it looks for room on a full disk. */
  readonly lookMs?: number
  /** Called when it can be written no more, and when it can be again. */
  readonly onChange?: (problem: CountError | undefined) => void
}

const usualSpare = 20_000
const usualLookMs = 1_000
/** So much has to fit before it goes on: many lines. */
const room = Buffer.alloc(65_536, ' ')

/** @throws CountError */
export async function openCount(
  dataDir: string,
  { live, spareLines = usualSpare, lookMs = usualLookMs, onChange }: CountWriterOptions,
): Promise<CountWriter> {
  const folder = countFolder(dataDir)
  const read = readLog(folder)
  const noted = readHead(folder)
  if (noted.count !== read.count) throw lost('is of two counts')
  if (noted.generation > read.generation) throw lost('is older than it was')
  let log = await openFile(logFile(folder))
  const heads = await openFile(headFile(folder))
  await log.truncate(read.bytes)

  let { generation, sum, bytes, lines, last } = read
  const head = createHead(heads, read.count)
  let longest = spareLines
  let waiting: { readonly text: string; readonly time: NotedTime; done(): void; failed(error: Error): void }[] = []
  let isWriting = false
  let writing: Promise<void> | undefined
  let broken: CountError | undefined
  /** What may be behind the whole lines, in part. */
  let attempt = Buffer.alloc(0)
  let looking: NodeJS.Timeout | undefined
  let look: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        if (broken) throw broken
        await write(batch)
        for (const { done } of batch) done()
        if (waiting.length === 0 && lines > longest) await shorten()
      } catch (error) {
        if (!broken) breakOff(error)
        for (const { failed } of batch) failed(broken ?? unusable('cannot be written'))
      }
    }
    // At once: whoever waited for the last batch may append the next one before anybody hears that this is over.
    isWriting = false
  }

  async function write(batch: typeof waiting): Promise<void> {
    refuseOther(folder, log, bytes)
    const next = chained(
      batch.map(({ text }) => text),
      sum,
    )
    attempt = Buffer.from(next.text)
    writeWhole(log, attempt, bytes)
    await log.datasync()
    generation += batch.length
    sum = next.sum
    bytes += attempt.length
    lines += batch.length
    last = batch.at(-1)?.time
    head.write(generation)
  }

  /** Nothing is written from now on. On a full disk that ends when there is room. */
  function breakOff(error: unknown): void {
    broken = error instanceof CountError ? error : isFullDisk(error) ? noRoom(folder) : unusable('cannot be written')
    onChange?.(broken)
    if (broken instanceof FullDiskError) lookLater()
  }

  function lookLater(): void {
    looking = setTimeout(() => {
      look = lookForRoom()
    }, lookMs).unref()
  }

  async function lookForRoom(): Promise<void> {
    try {
      refuseOther(folder, log, bytes, attempt)
      await log.truncate(bytes)
      attempt = room
      // No line ends in it: whoever reads it takes it for one that was cut off.
      writeWhole(log, room, bytes)
      await log.datasync()
      await log.truncate(bytes)
      await log.datasync()
    } catch (error) {
      if (isFullDisk(error)) return lookLater()
      return breakOff(error)
    }
    broken = undefined
    onChange?.(undefined)
  }

  /** Between two batches all that counts is in the log. */
  async function shorten(): Promise<void> {
    const charges = live()
    if (lines <= 2 * charges.length + spareLines) return
    try {
      const written = await writeLog(folder, { count: read.count, generation, charges, last })
      await log.close()
      log = await openFile(logFile(folder))
      ;({ sum, bytes } = written)
      lines = charges.length
      longest = spareLines
    } catch (error) {
      if (!isFullDisk(error)) throw error
      // The long one is as it was.
      longest = lines + spareLines
    }
  }

  return {
    charges: read.charges,
    last: read.last,
    append: (charge, time) =>
      new Promise<void>((done, failed) => {
        waiting.push({ text: textOf(charge, time), time, done, failed })
        // What is asked for while it writes is flushed together.
        if (!isWriting) writing = writeAll()
      }),
    problem: () => broken,
    async close() {
      clearTimeout(looking)
      await Promise.all([writing, look])
      clearTimeout(looking)
      await head.close()
      await Promise.all([log.close(), heads.close()])
    },
  }
}

/** So much later the disk has how long the log is. */
const headFlushMs = 1_000

/**
 * How long the log is, beside it. No signature waits until the disk has that: the log alone says what counts, and is flushed before it. Between two flushes one of the
 * two places is written, so that the other one is whole whenever the power fails; then this one may be behind by the lines of a moment.
 */
function createHead(file: FileHandle, count: string) {
  let slot = 0
  let generation: number | undefined
  let written: number | undefined
  let later: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  function write(): void {
    if (flushing || generation === undefined || written === generation) return
    writeWhole(file, slotOf({ count, generation }), slot * slotBytes)
    written = generation
    later ??= setTimeout(() => void flush(), headFlushMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(later)
    later = undefined
    flushing = file
      .datasync()
      .then(
        () => void (slot = 1 - slot),
        // The next line is flushed with this one.
        () => {},
      )
      .then(() => {
        flushing = undefined
        write()
      })
      // The next line is refused by it.
      .catch(() => {})
    return flushing
  }

  return {
    /** @throws the error of the file system */
    write(lines: number): void {
      generation = lines
      write()
    },
    async close(): Promise<void> {
      await flushing
      if (later) await flush()
      clearTimeout(later)
    },
  }
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDWR)
  } catch {
    throw unusable(`cannot be written (${file})`)
  }
}

/** A disk that becomes full takes a part, and says so at the next one. */
function writeWhole({ fd }: FileHandle, content: Buffer, position: number): void {
  for (let at = 0; at < content.length;) at += writeSync(fd, content, at, content.length - at, position + at)
}

const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

/** @param attempt what may be behind the lines, in part @throws CountError where the log is not the one that this process left */
function refuseOther(folder: string, log: FileHandle, bytes: number, attempt = Buffer.alloc(0)): void {
  const mine = fstatSync(log.fd, { bigint: true })
  const there = statSync(logFile(folder), { bigint: true, throwIfNoEntry: false })
  if (!there) throw lost('is missing')
  const changed = unusable('was changed by another process')
  if (there.ino !== mine.ino || there.dev !== mine.dev) throw changed
  const left = Number(mine.size) - bytes
  if (left < 0 || left > attempt.length) throw changed
  const behind = Buffer.alloc(left)
  if (left > 0 && (readSync(log.fd, behind, 0, left, bytes) !== left || !behind.equals(attempt.subarray(0, left)))) throw changed
}
