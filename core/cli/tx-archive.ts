import { momentForms, readMoment } from '../base/moments.ts'
import { showProgress } from './progress.ts'
import type { JournalClient } from './server-client.ts'

export const countOf = (count: number): string => (count === 1 ? '1 transaction' : `${count} transactions`)

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
