// What a pair is called in the journal: an entry keeps the names that its tokens had, the symbol while a list had a token and else its address.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { isObject } from '../../base/json.ts'
import { pairName, pairNames, type PairAlias } from '../../store/entry-filters.ts'
import type { Store } from '../../store/store.ts'
import { bodyColumns, readBody } from './entry-rows.ts'
import type { EntryFilter } from './journal.ts'

type Table = 'entries' | 'archived'
type Reader = Pick<Store, 'read'>

/** The names of the filter that the table has, and those of before a token was taken off its list. Lists of all networks give a hundred names of a pair. */
export async function withKnownAliases(store: Reader, table: Table, filter: EntryFilter): Promise<EntryFilter> {
  const { pairAliases = [], hasUnlisted, ...others } = filter
  const aliases = hasUnlisted ? [...pairAliases, ...(await formerNames(store, filter))] : pairAliases
  if (aliases.length === 0) return others
  const names = [...new Set(aliases.map(({ pair }) => pair))].map((name) => sql`(${name})`)
  const { rows } = await store.read((db) =>
    sql<{ name: string }>`
      with wanted(name) as (values ${sql.join(names)})
      select name from wanted where exists (select 1 from ${sql.table(table)} as those where those.pair = wanted.name)`.execute(db),
  )
  const known = new Set(rows.map(({ name }) => name))
  const there = aliases.filter(({ pair }) => known.has(pair))
  return there.length === 0 ? others : { ...others, pairAliases: there }
}

/** What trades of these tokens are journaled as, besides the names that the lists give. Trades plan with addresses, whatever a list calls a token. */
async function formerNames(store: Reader, filter: EntryFilter): Promise<readonly PairAlias[]> {
  const asked = new Set(pairNames(filter))
  const journaled = [...(await newestOfNames(store, 'entries', asked)), ...(await newestOfNames(store, 'archived', asked))]
  const wanted = new Set([...asked, ...journaled.flatMap(({ pair, byAddresses }) => (asked.has(pair) ? byAddresses : []))])
  return journaled.flatMap(({ chain, network, pair, byAddresses }) =>
    wanted.has(byAddresses) ? [pair, byAddresses].map((name) => ({ chain, network, pair: name })) : [],
  )
}

/** Names of the table, those of them that one filter looks at, and rows in which the newest trade of a name is looked for. */
const maxKnown = 2_000
const maxNames = 500
const maxRows = 50
/** Names whose trades are read before other work has its turn. */
const namesAtOnce = 50

type JournaledPair = PairAlias & { readonly byAddresses: string }

/** Of the names of the table their newest trades, first of those with a token that is asked for: one that left its list has two names, the other token one. */
async function newestOfNames(store: Reader, table: Table, asked: ReadonlySet<string>): Promise<readonly JournaledPair[]> {
  const tokens = new Set([...asked].flatMap(tokensOf))
  const all = await namesIn(store, table)
  const isLikely = (name: string) => asked.has(name) || tokensOf(name).some((token) => tokens.has(token))
  const names = [...all.filter(isLikely), ...all.filter((name) => !isLikely(name))].slice(0, maxNames)
  const found: JournaledPair[] = []
  for (let start = 0; start < names.length; start += namesAtOnce) {
    if (start > 0) await nextTurn()
    found.push(...(await newestOf(store, table, names.slice(start, start + namesAtOnce))))
  }
  return found
}

const tokensOf = (name: string): readonly string[] => name.split('-')

/** A step in the index for each. */
async function namesIn(store: Reader, table: Table): Promise<readonly string[]> {
  const these = sql.table(table)
  const { rows } = await store.read((db) =>
    sql<{ pair: string }>`
      with recursive names(pair) as (
        select min(pair) from ${these}
        union all
        select (select min(pair) from ${these} as further where further.pair > names.pair) from names where names.pair is not null
      )
      select pair from names where pair is not null limit ${sql.lit(maxKnown)}`.execute(db),
  )
  return rows.map(({ pair }) => pair)
}

async function newestOf(store: Reader, table: Table, names: readonly string[]): Promise<readonly JournaledPair[]> {
  const { rows: found } = await store.read((db) =>
    sql<{ key: string | null }>`
      with names(pair) as (values ${sql.join(names.map((name) => sql`(${name})`))})
      select (
        select max(key) from (
          select key, kind from ${sql.table(table)} as those where those.pair = names.pair order by key desc limit ${sql.lit(maxRows)}
        ) as newest where kind = 'trade'
      ) as key
      from names`.execute(db),
  )
  const keys = found.flatMap(({ key }) => key ?? [])
  if (keys.length === 0) return []
  const rows = await store.read((db) =>
    db
      .selectFrom(table)
      .select([...bodyColumns, 'pair'])
      .where('key', 'in', keys)
      .execute(),
  )
  return rows.flatMap((row) => {
    try {
      const { chain, network, planned } = readBody(row)
      const { base, quote } = isObject(planned) ? planned : {}
      if (row.pair === null || typeof base !== 'string' || typeof quote !== 'string') return []
      return [{ chain, network, pair: row.pair, byAddresses: pairName(base, quote) }]
    } catch {
      // A list of it says that the row is damaged.
      return []
    }
  })
}
