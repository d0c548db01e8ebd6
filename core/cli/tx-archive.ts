import { momentForms, readMoment } from '../base/moments.ts'
import { plainJson } from '../base/printable.ts'
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { keyTimeMs } from '../transactions/submit-request.ts'
import { showProgress } from './progress.ts'
import type { JournalClient } from './server-client.ts'

export interface ExportOptions {
  from?: string
  to?: string
  chain?: string
  network?: string
  address?: string
  out: string
}

export const isFiltered = ({ from, to, chain, network, address }: ExportOptions): boolean =>
  [from, to, chain, network, address].some((each) => each !== undefined)

export const countOf = (count: number): string => (count === 1 ? '1 transaction' : `${count} transactions`)

/** Writes transactions to a file, or to the standard output. Returns how many. @throws Error; then the file is as it was before */
export async function exportTransactions(journal: JournalClient, options: ExportOptions): Promise<number> {
  const { chain, network, address, out } = options
  const from = options.from === undefined ? -Infinity : readDate('--from', options.from)
  const to = options.to === undefined ? Infinity : readDate('--to', options.to)
  if (from >= to) throw new Error(`--from ${options.from} is not before --to ${options.to}: there can be none in between.`)
  const filter = {
    ...(chain !== undefined && { chain }),
    ...(network !== undefined && { network }),
    ...(address !== undefined && { address }),
  }

  let count = 0
  async function* pages(): AsyncGenerator<string> {
    for await (const { transactions, nextCursor } of journal.pages({ ...filter, archived: 'true' })) {
      const wanted = transactions.filter(({ createdAt }) => createdAt >= from && createdAt < to)
      count += wanted.length
      if (wanted.length > 0) yield wanted.map((each) => `${plainJson(JSON.stringify(each))}\n`).join('')
      // All that follow are older.
      if (nextCursor !== undefined && keyTimeMs(nextCursor) < from) return
    }
  }
  await (out === '-' ? toStandardOutput(pages()) : toFile(pages(), out))
  return count
}

async function toStandardOutput(pages: AsyncIterable<string>): Promise<void> {
  const { stdout } = process
  let isGone = false
  // The reader, such as `head`, has enough.
  const onError = () => void (isGone = true)
  stdout.on('error', onError)
  try {
    for await (const page of pages) {
      if (isGone) return
      if (!stdout.write(page)) await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(onError)
    }
  } finally {
    stdout.off('error', onError)
  }
}

/** The file has its name once it is whole. */
async function toFile(pages: AsyncIterable<string>, file: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    const target = handle.createWriteStream({ flush: true })
    const source = Readable.from(pages)
    await (file.endsWith('.gz') ? pipeline(source, createGzip(), target) : pipeline(source, target))
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    if (error instanceof Error && 'code' in error) throw new Error(`${file} cannot be written: ${error.message}.`, { cause: error })
    throw error
  }
}

export interface PruneOptions {
  days?: string
  before?: string
  dryRun?: true
}

interface PruneSummary {
  archived: number
  kept: number
  folder: string
}

/** Asks the server until there is nothing left to move. @throws Error that says which option is wrong and how, or with the server's message */
export async function pruneTransactions(journal: JournalClient, options: PruneOptions, nowMs: number): Promise<PruneSummary> {
  const request = { olderThanDays: readAge(options, nowMs), dryRun: options.dryRun ?? false }
  const progress = showProgress(request.dryRun ? 'Counting' : 'Moving')
  let total = { archived: 0, kept: 0 }
  try {
    for (let after: string | undefined; ;) {
      const { archived, kept, folder, next } = await journal.prune({ ...request, ...(after !== undefined && { after }) })
      total = { archived: total.archived + archived, kept: total.kept + kept }
      if (next === undefined) return { ...total, folder }
      after = next
      progress.update({ text: `${countOf(total.archived)} of ${total.archived + total.kept} that are old enough` })
    }
  } finally {
    progress.end()
  }
}

export function describePruned({ archived, kept, folder }: PruneSummary, { dryRun }: PruneOptions): string {
  const moved = dryRun
    ? `${countOf(archived)} would be moved to ${folder} on the server.`
    : archived === 0
      ? 'There was nothing to move.'
      : `${countOf(archived)} moved to ${folder} on the server.`
  const why =
    "the newest of each wallet, from which its nonces go on; those whose order may be open; those whose nonce an open transaction has; and damaged ones, which the server's log names"
  return kept === 0 ? moved : `${moved}\n${kept} ${kept === 1 ? 'stays' : 'stay'}, though old enough: ${why}.`
}

const dayMs = 86_400_000

function readAge({ days, before }: PruneOptions, nowMs: number): number {
  if ((days === undefined) === (before === undefined)) throw new Error('Give --days or --before: how old what is moved has to be.')
  if (days !== undefined) {
    const age = Number(days)
    if (/^\d{1,5}(\.\d+)?$/.test(days) && age >= 1 && age <= 36_500) return age
    throw new Error(`--days is "${days}", but must be a number from 1 to 36500.`)
  }
  const age = (nowMs - readDate('--before', before ?? '')) / dayMs
  // The server refuses numbers of more digits than a double keeps.
  if (age >= 1) return Math.min(Math.ceil(age * 10_000) / 10_000, 36_500)
  throw new Error(`--before is "${before}", but must be a day ago or longer: what is newer stays in the journal.`)
}

/** Milliseconds since the Unix epoch. */
function readDate(option: string, given: string): number {
  const moment = readMoment(given)
  if (moment !== undefined) return moment
  throw new Error(`${option} is "${given}", but must be ${momentForms}.`)
}
