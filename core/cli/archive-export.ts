// `sluice tx archive`: what left the store for compressed files, as CSV or NDJSON. It reads the files alone, so no server has to run.
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { showTransaction } from '../handlers/journaled.ts'
import { streamText } from '../handlers/streams.ts'
import { transactionColumns } from '../handlers/transaction-columns.ts'
import type { TransactionsLine } from '../api/index.ts'
import { txStatus, type Entry } from '../transactions/entry.ts'
import { archiveFilesIn, readArchiveFile } from '../transactions/archive-files.ts'
import { showProgress, type Progress } from './progress.ts'
import { readFormat } from './tx-export.ts'
import { countOf } from './tx-archive.ts'
import { reasonOf } from '../base/errors.ts'
import { withoutStop } from '../base/printable.ts'

export interface ArchiveExportOptions {
  folder: string
  month?: string
  format?: string
  out: string
}

/** Entries that are written at once. */
const pageSize = 100

/** @returns how many, in so many files, and in how many of these something is damaged @throws Error that says what is wrong; then there is no file */
export async function exportArchive(options: ArchiveExportOptions): Promise<{ count: number; files: number; damaged: number }> {
  const { folder, month, out } = options
  const format = readFormat(options)
  if (month !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
    throw new Error(`--month is "${month}", but must be a month such as 2026-08.`)
  const files = await archiveFilesIn(folder, month).catch((cause: unknown) => {
    throw new Error(`The archive in ${folder} cannot be read: ${withoutStop(reasonOf(cause))}. Name its folder with --folder.`, { cause })
  })
  if (files.length === 0) throw new Error(`There is nothing in ${folder}${month === undefined ? '' : ` of ${month}`}.`)
  const progress = showProgress('Reading the archive')
  const counted = { count: 0, damaged: 0 }
  try {
    const text = streamText({ pages: pagesOf(files, counted, progress), columns: transactionColumns }, format)
    await (out === '-' ? toStandardOutput(text) : toFile(text, out))
    return { ...counted, files: files.length }
  } finally {
    progress.end()
  }
}

/** Networks are not asked: what their coins and tokens are called is not known here. */
const view = {
  status: txStatus,
  coinOf: () => undefined,
  costOf: ({ landed }: Pick<Entry, 'landed'>) => landed?.cost,
  tokenOf: () => undefined,
}

async function* pagesOf(
  files: readonly string[],
  counted: { count: number; damaged: number },
  progress: Progress,
): AsyncGenerator<readonly TransactionsLine[], void> {
  /** A crash may have left an entry in two lines. */
  const known = new Set<string>()
  for (const [index, file] of files.entries()) {
    let page: TransactionsLine[] = []
    let damaged = 0
    let isBroken = false
    try {
      for await (const entry of readArchiveFile(file)) {
        if (!entry) damaged += 1
        else if (!known.has(entry.key)) {
          known.add(entry.key)
          page.push(showTransaction(entry, view))
        }
        if (page.length < pageSize) continue
        yield page
        counted.count += page.length
        page = []
        progress.update({ text: countOf(counted.count), part: index / files.length })
      }
    } catch (error) {
      const code = codeOfZlib(error)
      if (code === undefined) throw error
      isBroken = code !== killedWriter
      const how = isBroken ? 'is damaged' : 'ends in the middle'
      progress.say(`warning: ${file} ${how} (${reasonOf(error)}): what was before that is there.`)
    }
    if (damaged > 0) progress.say(`warning: ${damaged} ${damaged === 1 ? 'line' : 'lines'} of ${file} cannot be read, and are missing.`)
    if (isBroken || damaged > 0) counted.damaged += 1
    yield page
    counted.count += page.length
  }
}

/** Unexpected end of file. */
const killedWriter = 'Z_BUF_ERROR'

function codeOfZlib(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('Z_') ? code : undefined
}

async function toFile(text: AsyncIterable<string>, file: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    const target = (await open(unfinished, 'wx', 0o600)).createWriteStream({ flush: true })
    const source = Readable.from(text)
    await (file.endsWith('.gz') ? pipeline(source, createGzip(), target) : pipeline(source, target))
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error instanceof Error && 'syscall' in error ? new Error(`${file} cannot be written: ${error.message}.`, { cause: error }) : error
  }
}

async function toStandardOutput(text: AsyncIterable<string>): Promise<void> {
  for await (const part of text) if (part !== '' && !process.stdout.write(part)) await once(process.stdout, 'drain')
}
