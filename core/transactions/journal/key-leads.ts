// Keys of entries sort by time and never go back, so that the newest entry of a queue has the highest one. After a clock was ahead and was set back, new entries
// have keys of a later time than that of their request, until that time has come. It is noted where such keys begin: lists of a time go by when an entry
// was requested, and read those keys beside the ones of that time.
import type { Store } from '../../store/store.ts'
import type { Entry } from '../entry.ts'
import { firstKeyAt, keyTimeMs } from '../submit-request.ts'
import type { EntryFilter, EntryPage } from './journal.ts'

/** Where keys of a later time begin. */
interface KeyLead {
  /** The time of the first of them, in milliseconds since the Unix epoch. */
  readonly keyMs: number
  /** None of them is of an entry that was requested before. */
  readonly createdMs: number
}

/** Clocks are set by less all the time; and so long after the first key all of them are counted on from it, however many there are. */
const slackMs = 60_000
/** By the steady clock. What another server notes meanwhile is missing for so long. */
const readForMs = 5_000
/** Pages by keys that one page takes, where few of their entries are of the time that is asked for, or few of an archive match at all. */
const maxPages = 5
/** Entries that such a page looks at, also where fewer are asked for. */
const minLooked = 100

export type LimitedFilter = EntryFilter & { readonly limit: number }
/** By the times of keys alone. */
type KeyLister = (filter: LimitedFilter) => Promise<EntryPage>

export interface KeyLeads {
  /** Notes first what is to be noted of new entries. @throws StoreUnavailable, what `write` throws */
  writing<T>(entries: readonly Entry[], write: () => Promise<T>): Promise<T>
  /**
   * By when entries were requested, newest key first. A page may have fewer than its limit where many have such keys.
   * @throws StoreUnavailable
   */
  list(listByKeys: KeyLister, filter: LimitedFilter): Promise<EntryPage>
}

export function createKeyLeads(store: Pick<Store, 'read' | 'write'>): KeyLeads {
  const noted: KeyLead[] = []
  let known: { readonly leads: readonly KeyLead[]; readonly readAt: number } | undefined

  async function note(lead: KeyLead): Promise<void> {
    const row = { key_ms: lead.keyMs, created_ms: lead.createdMs }
    await store.write((tx) =>
      tx
        .insertInto('key_leads')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('key_ms').doUpdateSet({ created_ms: lead.createdMs }).where('key_leads.created_ms', '>', lead.createdMs),
        )
        .execute(),
    )
    noted.push(lead)
    known = undefined
  }

  async function readAll(): Promise<readonly KeyLead[]> {
    if (!known || performance.now() - known.readAt >= readForMs) known = { leads: await readLeads(store), readAt: performance.now() }
    return known.leads
  }

  return {
    async writing(entries, work) {
      const ahead = entries.find(({ key, createdAt }) => {
        const keyMs = keyTimeMs(key)
        const isNoted = (lead: KeyLead) => isOf(lead, keyMs) && lead.createdMs <= createdAt
        return keyMs - createdAt > slackMs && !noted.some(isNoted)
      })
      if (ahead) await note({ keyMs: keyTimeMs(ahead.key), createdMs: ahead.createdAt - slackMs })
      return work()
    },
    async list(listByKeys, filter) {
      const { from = 0, to = Infinity } = filter
      const isAboutTime = filter.from !== undefined || filter.to !== undefined
      const leads = isAboutTime ? leadsIn(await readAll(), { from, to }) : []
      return leads.length === 0 ? listByKeys(filter) : listByTime(listByKeys, filter, leads)
    },
  }
}

async function readLeads({ read }: Pick<Store, 'read'>): Promise<readonly KeyLead[]> {
  const rows = await read((db) => db.selectFrom('key_leads').selectAll().execute())
  return rows.map(({ key_ms: keyMs, created_ms: createdMs }) => ({ keyMs, createdMs }))
}

/** Those of which some entries may be of a time. */
const leadsIn = (leads: readonly KeyLead[], { from, to }: Range): readonly KeyLead[] =>
  leads.filter(({ keyMs, createdMs }) => createdMs < to && keyMs + slackMs > from)

/**
 * Where the keys of all are that were requested before a moment, latest first: from the first key to the one behind the last. Of those that are
 * ahead of the clock some were requested later.
 * @throws StoreUnavailable
 */
export async function keysBefore(
  store: Pick<Store, 'read'>,
  toMs: number,
): Promise<readonly { readonly first: string; readonly end: string }[]> {
  const time = { from: 0, to: toMs }
  return rangesOf(time, leadsIn(await readLeads(store), time)).map(({ from, to }) => ({ first: firstKeyAt(from), end: firstKeyAt(to) }))
}

const isOf = ({ keyMs }: KeyLead, timeMs: number): boolean => timeMs >= keyMs && timeMs < keyMs + slackMs

async function listByTime(list: KeyLister, filter: LimitedFilter, leads: readonly KeyLead[]): Promise<EntryPage> {
  const { from = 0, to = Infinity, cursor, limit } = filter
  const isWanted = ({ key, createdAt }: Entry) => !leads.some((lead) => isOf(lead, keyTimeMs(key))) || (createdAt >= from && createdAt < to)
  const entries: Entry[] = []
  const damaged: string[] = []
  const pageOf = (nextCursor?: string): EntryPage => ({
    entries,
    ...(damaged.length > 0 && { damaged }),
    ...(nextCursor !== undefined && { nextCursor }),
  })
  let pages = 0
  const ranges = rangesOf({ from, to }, leads)
  for (const [index, range] of ranges.entries()) {
    const lowest = firstKeyAt(range.from)
    let before = cursor
    while (before === undefined || before > lowest) {
      const period = { ...(range.from > 0 && { from: range.from }), ...(range.to < Infinity && { to: range.to }) }
      const room = limit - entries.length
      const page = await list({ ...filter, ...period, limit: Math.max(room, minLooked), ...(before !== undefined && { cursor: before }) })
      const wanted = page.entries.filter(isWanted)
      entries.push(...wanted.slice(0, room))
      const last = wanted.length > room ? entries.at(-1)?.key : undefined
      damaged.push(...(page.damaged ?? []).filter((key) => last === undefined || key > last))
      pages += 1
      // Behind a range that is read the others come.
      const next = last ?? page.nextCursor ?? (index < ranges.length - 1 ? keyOf(lowest) : undefined)
      if (entries.length >= limit || pages >= maxPages) return pageOf(next)
      if (page.nextCursor === undefined) break
      before = page.nextCursor
    }
  }
  return pageOf()
}

interface Range {
  readonly from: number
  readonly to: number
}

/** The times of keys, latest first; none lies in two of them. */
function rangesOf({ from, to }: Range, leads: readonly KeyLead[]): readonly Range[] {
  const all = [{ from, to }, ...leads.map(({ keyMs }) => ({ from: Math.max(from, keyMs), to: keyMs + slackMs }))]
  const ranges: Range[] = []
  for (const range of all.toSorted((one, other) => one.from - other.from)) {
    const last = ranges.at(-1)
    if (last && range.from <= last.to) ranges[ranges.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
    else ranges.push(range)
  }
  return ranges.toReversed()
}

/** As keys are written: cursors are as long. */
const keyOf = (first: string): string => first.padEnd(17, '0')
