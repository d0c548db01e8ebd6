// Limits of clients: what is nearly used, what is used up, and what was refused by them.
import { command } from '../../base/layout.ts'
import { formatRaw } from '../../base/decimal.ts'
import type { LimitUsage } from '../../limits/usage.ts'
import type { AlertSources, Reading, Rule } from '../sources.ts'
import { increases } from './over-time.ts'

const looksAt = 'what clients have used of their limits, as /limits shows it'

export const limitNearlyUsed: Rule<'limitNearlyUsed'> = {
  title: 'Limit nearly used',
  remedy: `See "${command} limits show". A higher limit in conf/clients.yml holds at once.`,
  about: 'a client and a limit',
  looksAt,
  every: 5_000,
  triggers: ['journal'],
  create:
    ({ percent }, sources) =>
    async () => {
      const { rows, unread } = await readUsage(sources)
      const full = new Set(rows.filter(({ row }) => row.usedRaw >= row.allowedRaw).map(subjectOf))
      // In hundredths of a percent, so that money is never a number.
      const least = BigInt(Math.round(percent * 100))
      const near = rows.filter(({ row }) => row.usedRaw * 10_000n >= row.allowedRaw * least)
      return {
        found: joined(near.filter((each) => !full.has(subjectOf(each)))),
        // One that is used up is told by its own rule, and is not over.
        isUnknown: (subject) => full.has(subject) || unread(subject),
      }
    },
}

export const limitReached: Rule<'limitReached'> = {
  title: 'Limit reached',
  remedy: `Requests of the client are refused: see "${command} limits show". A higher limit in conf/clients.yml holds at once.`,
  about: 'a client and a limit',
  looksAt: `${looksAt}, and refusals by them, of which one alone is no alert`,
  every: 1_000,
  triggers: ['journal'],
  create({ minutes, requests }, sources) {
    const refusals = increases(minutes * 60_000, requests)
    return async ({ steadyMs }): Promise<Reading> => {
      const { rows, unread } = await readUsage(sources)
      const counts = (await sources.limitRefusals()).map(({ client, limit, count }) => ({ key: `${client} ${limit}`, count }))
      const refused = refusals.after(counts, steadyMs)
      const used = joined(rows.filter(({ row }) => row.usedRaw >= row.allowedRaw))
      const both = new Set(used.map(({ subject }) => subject))
      return {
        found: [
          ...used,
          ...refused.keys
            .filter((key) => !both.has(key))
            .map((key) => ({ subject: key, words: `${key}: ${requests} requests or more were refused by it within ${minutes} minutes` })),
        ],
        isUnknown: (subject) => unread(subject) || refused.isUnknown(subject),
      }
    }
  },
}

interface CountedRow {
  readonly client: string
  readonly row: Omit<LimitUsage, 'counted'> & NonNullable<LimitUsage['counted']>
}

const subjectOf = ({ client, row }: CountedRow): string => `${client} ${row.limit}`

async function readUsage(sources: Pick<AlertSources, 'limitUsage'>) {
  const all = await sources.limitUsage()
  const rows = all.flatMap(({ client, usage = [] }) =>
    usage.flatMap(({ counted, ...row }): CountedRow[] =>
      // A limit of nothing is used up from the beginning: that is meant so.
      counted && counted.allowedRaw > 0n ? [{ client, row: { ...row, ...counted } }] : [],
    ),
  )
  const unreadClients = all.filter(({ usage }) => usage === undefined).map(({ client }) => client)
  return { rows, unread: (subject: string) => unreadClients.some((client) => subject.startsWith(`${client} `)) }
}

/** One for a client and a limit, whatever it is of. */
function joined(rows: readonly CountedRow[]): Reading['found'] {
  const bySubject = new Map<string, string[]>()
  for (const each of rows) {
    const words = bySubject.get(subjectOf(each)) ?? []
    bySubject.set(subjectOf(each), [...words, wordsOf(each.row)])
  }
  return [...bySubject].map(([subject, words]) => ({ subject, words: `${subject}: ${words.join('; ')}` }))
}

function wordsOf({ usedRaw, allowedRaw, decimals, unit, window, network }: CountedRow['row']): string {
  const of = typeof unit === 'object' ? ` ${unit.token}` : unit === 'coin' ? '' : ` ${unit}`
  const where = network ? ` on ${network.chain}/${network.network}` : ''
  return `${formatRaw(usedRaw, decimals)} of ${formatRaw(allowedRaw, decimals)}${of}${window ? ` in a rolling ${window}` : ''}${where}`
}
