// What statements a part gives a store, and how the database would carry them out.
import path from 'node:path'
import type { CompiledQuery, Kysely, KyselyPlugin, RootOperationNode } from 'kysely'
import Libsql from 'libsql'
import { Client } from 'pg'
import type { Store } from '../../core/store/store.ts'
import type { Tables } from '../../core/store/tables.ts'
import type { StorePlace } from './stores.ts'

/** A store that notes what it is asked. */
export function recorded(store: Store): { recording: Store; queries: readonly CompiledQuery[] } {
  const queries: CompiledQuery[] = []
  return {
    queries,
    recording: {
      ...store,
      read: (work) => store.read((db) => work(db.withPlugin(noting(db, queries)))),
      writeOnce: (work) => store.writeOnce((db) => work(db.withPlugin(noting(db, queries)))),
    },
  }
}

const noting = (db: Kysely<Tables>, queries: CompiledQuery[]): KyselyPlugin => ({
  transformQuery({ node, queryId }): RootOperationNode {
    queries.push(db.getExecutor().compileQuery(node, queryId))
    return node
  },
  transformResult: async ({ result }) => result,
})

/**
 * How the database would carry a query out, in words of its own.
 * @param isAsLarge in PostgreSQL as if the journal was large; else as with what it has, which is looked at first
 */
export async function explainer(place: StorePlace, store: Store, { isAsLarge = true } = {}) {
  if (place.kind === 'embedded') {
    await store.close()
    const database = new Libsql(path.join(place.options.dataDir, 'sluice.db'))
    const explain = async ({ sql, parameters }: CompiledQuery): Promise<readonly string[]> =>
      database
        .prepare(`explain query plan ${sql}`)
        .all(parameters)
        .map((row: unknown) => String(Reflect.get(Object(row), 'detail')))
    return Object.assign(explain, { end: async () => void database.close() })
  }
  const client = new Client({ connectionString: place.options.url })
  await client.connect()
  if (isAsLarge) for (const name of ['enable_seqscan', 'enable_sort', 'enable_bitmapscan']) await client.query(`set ${name} = off`)
  else await client.query('analyze')
  const explain = async ({ sql, parameters }: CompiledQuery): Promise<readonly string[]> => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...parameters])
    return rows.map((row) => row['QUERY PLAN'])
  }
  return Object.assign(explain, { end: () => client.end() })
}
