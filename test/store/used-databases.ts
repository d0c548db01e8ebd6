// Databases of PostgreSQL that tests have left. One that differs from a new one by its rows alone is emptied for the next test: to copy a new one
// costs ten times as much, and a folder of three hundred files.
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { TestPostgres } from './postgres.ts'

export interface UsedDatabases {
  /** One that has the tables and the rows of the template, and nobody is connected to. */
  take(): Promise<string>
  /** No test needs it any more. */
  giveBack(url: string): void
}

/** What statements change besides rows: `reltuples` differs once the planner was told of them. */
const state = `select (select concat_ws(' ', count(*), sum(oid::bigint), sum(relfilenode::bigint), sum(reltuples)) from pg_class) as classes,
  (select concat_ws(' ', count(*), sum(atttypid::bigint)) from pg_attribute) as columns,
  (select concat_ws(' ', count(*), sum(oid::bigint)) from pg_constraint) as constraints,
  (select count(*) from pg_trigger) as triggers, (select count(*) from pg_proc) as functions, (select count(*) from pg_namespace) as schemas,
  (select count(*) from pg_db_role_setting) as settings,
  (select sum(pg_relation_size(oid))::integer from pg_class where relnamespace = 'public'::regnamespace) as bytes,
  (select count(*)::integer from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as connected`
/** Rows that are gone take up room until it is used again: a test that wrote many leaves tables that are slow to read. */
const moreBytes = 512 * 1024
/** A connection that was closed may be counted a moment longer. */
const closingMs = 100

/** @param template the URL of a database that has all tables, which nothing else changes */
export async function usedDatabases(postgres: TestPostgres, template: string): Promise<UsedDatabases> {
  const stateOf = async (url: string) => {
    const [{ bytes, connected, ...shape } = {}] = await postgres.query(state, url)
    return { bytes: Number(bytes), connected: Number(connected), shape }
  }
  const made = await stateOf(template)
  const empty = await emptying(postgres, template)
  const left: string[] = []

  async function isAsMade(url: string): Promise<boolean> {
    const until = Date.now() + closingMs
    let found = await stateOf(url)
    while (found.connected > 0 && Date.now() < until) {
      await sleep(5)
      found = await stateOf(url)
    }
    return found.connected === 0 && found.bytes <= made.bytes + moreBytes && isDeepStrictEqual(found.shape, made.shape)
  }
  return {
    async take() {
      for (let url = left.pop(); url !== undefined; url = left.pop()) {
        if (!(await isAsMade(url))) continue
        await postgres.query(empty, url)
        return url
      }
      return postgres.database(template)
    },
    giveBack: (url) => void left.push(url),
  }
}

/** Statements that bring a database back to the rows of the template. */
async function emptying(postgres: TestPostgres, template: string): Promise<string> {
  const textsOf = async (query: string) =>
    (await postgres.query(query, template)).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const tables = await textsOf(
    `select format('%I', relname) as text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  const rowsOf = (table: string) =>
    `select format('insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, %L)', json_agg(each)) as text
      from ${table} each having count(*) > 0`
  return [
    // Foreign keys ask for an order, and triggers would write.
    `set session_replication_role = replica`,
    ...tables.map((table) => `delete from ${table}`),
    ...(await textsOf(tables.map(rowsOf).join(' union all '))),
    ...(await textsOf(
      `select format('select setval(%L, %s, %L)', format('%I', sequencename), coalesce(last_value, start_value), last_value is not null) as text
        from pg_sequences`,
    )),
  ].join(';')
}
