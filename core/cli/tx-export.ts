// `sluice tx export`: all transactions, as the server streams them, to a file or to the standard output. What was interrupted goes on where it stopped.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { streamTypes, type StreamFormat } from '../api/endpoint.ts'
import { pause } from '../base/async.ts'
import { momentForms, readMoment } from '../base/moments.ts'
import { flushFolder } from '../base/whole-file.ts'
import { keyTimeMs } from '../transactions/submit-request.ts'
import { ownPart, partOf, type Part } from './export-part.ts'
import { showProgress, type Progress } from './progress.ts'
import { NoResponse, type ServerClient } from './server-client.ts'
import { requestedBy } from './server-options.ts'
import { countOf } from './tx-archive.ts'
import { reasonOf } from '../base/errors.ts'

export interface ExportOptions {
  from?: string
  to?: string
  chain?: string
  network?: string
  address?: string
  client?: string
  state?: string
  kind?: string
  connector?: string
  pair?: string
  format?: string
  out: string
}

/** What came of an export that did not fail. */
export interface ExportResult {
  /** In the file, with those that an earlier run had written. */
  readonly count: number
  /** Rows that the server cannot read. */
  readonly unavailable: number
  /** It went on where an earlier run stopped: what was requested after this time may be missing, milliseconds since the Unix epoch. */
  readonly missingAfter?: number
  /** It was interrupted: what there is of the file. */
  readonly part?: string
}

type ExportSource = Pick<ServerClient, 'as' | 'host' | 'stream'>

const filterNames = ['chain', 'network', 'address', 'client', 'state', 'kind', 'connector', 'pair'] as const

export const isFiltered = (options: ExportOptions): boolean =>
  [...filterNames, 'from' as const, 'to' as const].some((name) => options[name] !== undefined)

/** A break is tried again so often without a new line in between. */
const maxTries = 5

/** @param signal interrupts it: what there is of a file stays @throws Error that says where what there is of the file lies */
export async function exportTransactions(server: ExportSource, options: ExportOptions, signal: AbortSignal): Promise<ExportResult> {
  const { from, to, out } = options
  const [since, until] = [readDate('--from', from), readDate('--to', to)]
  if (since !== undefined && until !== undefined && since >= until)
    throw new Error(`--from ${from} is not before --to ${to}: there can be none in between.`)
  const format = readFormat(options)
  const query = {
    ...Object.fromEntries(filterNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))),
    ...requestedBy({ from, to }),
  }
  const progress = showProgress('Exporting')
  try {
    const source = { server, query, format, since, until, signal, progress }
    return await (out === '-' ? toStandardOutput(source) : toFile(source, out))
  } finally {
    progress.end()
  }
}

interface Source {
  server: ExportSource
  query: Record<string, string>
  format: StreamFormat
  since: number | undefined
  until: number | undefined
  signal: AbortSignal
  progress: Progress
}

/** Where an export is: it goes on after that. */
interface Position {
  count: number
  lastId: string | undefined
  unavailable: number
  /** Of CSV, once it is written. */
  header: string | undefined
}

const beginning = (): Position => ({ count: 0, lastId: undefined, unavailable: 0, header: undefined })

/** The server has other columns than what there is of the file: a version that is newer or older. */
class OtherColumns extends Error {}

/** Whole lines, as they come. After a break it goes on behind the last one. */
async function* wholeLines(source: Source, position: Position): AsyncGenerator<string> {
  const { server, query, format, signal, progress } = source
  let newestMs: number | undefined
  for (let tries = 1; ; tries += 1) {
    let rest = ''
    let isHeaderNext = format === 'csv'
    try {
      const asked = { ...query, ...(position.lastId !== undefined && { cursor: position.lastId }) }
      for await (const text of server.stream('/transactions', asked, streamTypes[format], signal)) {
        rest += text
        const end = rest.lastIndexOf('\n') + 1
        if (end === 0) continue
        let whole = rest.slice(0, end)
        rest = rest.slice(end)
        if (isHeaderNext) {
          isHeaderNext = false
          const headerEnd = whole.indexOf('\n') + 1
          const header = whole.slice(0, headerEnd)
          if (position.header === undefined) yield header
          else if (position.header !== header) throw new OtherColumns('The columns of the server have changed meanwhile. Begin anew.')
          position.header = header
          whole = whole.slice(headerEnd)
        }
        const lines = whole.split('\n').slice(0, -1)
        if (lines.length > 0) yield whole
        for (const line of lines) if (isUnavailable(line, format)) position.unavailable += 1
        position.count += lines.length
        position.lastId = idOf(lines.at(-1), format) ?? position.lastId
        if (lines.length > 0) tries = 1
        const atMs = position.lastId === undefined ? undefined : keyTimeMs(position.lastId)
        if (atMs !== undefined) {
          newestMs ??= atMs
          const { since } = source
          progress.update({
            text: `${countOf(position.count)}, back to ${new Date(atMs).toISOString().slice(0, 16)}Z`,
            ...(since !== undefined && newestMs > since && { part: (newestMs - atMs) / (newestMs - since) }),
          })
        }
      }
      if (rest !== '') throw new NoResponse('the answer ended within a line')
      return
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NoResponse) || tries >= maxTries) throw error
      await pause(tries * 500, signal).catch(() => {})
      if (signal.aborted) return
    }
  }
}

/** The server wrote the line: an id is the last thing in one of CSV. */
export function idOf(line: string | undefined, format: StreamFormat): string | undefined {
  if (line === undefined) return undefined
  const id: unknown = format === 'csv' ? line.trimEnd().slice(line.lastIndexOf(',') + 1) : Object(JSON.parse(line)).id
  return typeof id === 'string' && /^[0-9a-z]{17}$/.test(id) ? id : undefined
}

/** A damaged row has an id and a reason, and no time. */
const isUnavailable = (line: string, format: StreamFormat): boolean =>
  format === 'csv' ? line.startsWith(',') : line.includes('"unavailable":') && 'unavailable' in Object(JSON.parse(line))

async function toStandardOutput(source: Source): Promise<ExportResult> {
  const { stdout } = process
  const position = beginning()
  let isGone = false
  // The reader, such as `head`, has enough.
  const onError = () => void (isGone = true)
  stdout.on('error', onError)
  try {
    for await (const lines of wholeLines(source, position)) {
      if (isGone) break
      if (!stdout.write(lines)) await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(onError)
    }
  } finally {
    stdout.off('error', onError)
  }
  return position
}

/** The file has its name once it is whole. */
async function toFile(source: Source, file: string): Promise<ExportResult> {
  const { query, format, server, signal } = source
  const part = partOf(file, [query, format, server.as, server.host])
  let position = beginning()
  try {
    const own = await ownPart(part)
    try {
      const size = await readPart(own.file, format, position)
      let isOlder = size > 0
      try {
        await appendTo(own, size, source, position)
      } catch (error) {
        if (!(error instanceof OtherColumns)) throw error
        await own.renew()
        isOlder = false
        position = beginning()
        await appendTo(own, 0, source, position)
      }
      const { count, unavailable } = position
      const missesSome = isOlder && (source.until === undefined || source.until > own.begunMs)
      const result = { count, unavailable, ...(missesSome && { missingAfter: own.begunMs }) }
      if (signal.aborted) return { ...result, part: await own.release() }
      await finish(own, file)
      return result
    } catch (error) {
      await own.release()
      throw error
    }
  } catch (error) {
    const why = reasonOf(error)
    const kept = position.count === 0 ? '' : ` ${countOf(position.count)} are in ${part}: the same command goes on from there.`
    const cannot = error instanceof Error && 'syscall' in error ? `${file} cannot be written: ${why}.` : why
    throw new Error(`${cannot}${kept}`, { cause: error })
  }
}

async function appendTo({ file }: Part, size: number, source: Source, position: Position): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.truncate(size)
    await append(handle, size, wholeLines(source, position))
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function append(handle: FileHandle, size: number, text: AsyncIterable<string>): Promise<void> {
  let at = size
  for await (const lines of text) {
    const bytes = Buffer.from(lines)
    for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten
    at += bytes.length
  }
}

/** @returns the bytes of its whole lines, without those of a header that nothing follows */
async function readPart(file: string, format: StreamFormat, position: Position): Promise<number> {
  let size = 0
  let rest = ''
  let header: string | undefined
  for await (const text of createReadStream(file, 'utf8')) {
    const lines = `${rest}${String(text)}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      size += Buffer.byteLength(line) + 1
      if (format === 'csv' && header === undefined) header = `${line}\n`
      else {
        position.count += 1
        position.lastId = idOf(line, format)
        if (isUnavailable(line, format)) position.unavailable += 1
      }
    }
  }
  if (position.lastId === undefined) return 0
  position.header = header
  return size
}

async function finish(own: Part, file: string): Promise<void> {
  if (!file.endsWith('.gz')) {
    await rename(own.file, file)
    await flushFolder(path.dirname(file))
    return
  }
  const unfinished = `${own.file}.gz`
  try {
    await rm(unfinished, { force: true })
    const target = (await open(unfinished, 'wx', 0o600)).createWriteStream({ flush: true })
    await pipeline(createReadStream(own.file), createGzip(), target)
    await rename(unfinished, file)
    await rm(own.file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

export function readFormat({ format, out }: Pick<ExportOptions, 'format' | 'out'>): StreamFormat {
  if (format === undefined) return /\.csv(\.gz)?$/.test(out) ? 'csv' : 'ndjson'
  if (format === 'csv' || format === 'ndjson') return format
  throw new Error(`--format is "${format}", but must be csv or ndjson.`)
}

function readDate(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const moment = readMoment(given)
  if (moment !== undefined) return moment
  throw new Error(`${option} is "${given}", but must be ${momentForms}.${zoneless(given)}`)
}

/** A time of day without a zone is another moment in another place, and twice there when clocks go back. */
const zoneless = (given: string): string =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(given)
    ? ' A time needs its zone: Z for UTC, or what its place is ahead of UTC on that day, such as +02:00.'
    : ''
