import { sql, type RawBuilder } from 'kysely'
import type { Store } from '../../store/store.ts'

/** A server is dead so long after its last renewal. */
export const sessionMs = 5_000

/** By the statement's own moment, at which it sees the sessions too: while it waits for a row, others go on renewing theirs. */
const now = sql`extract(epoch from statement_timestamp()) * 1000`

/**
 * Whether another server that a row names is alive. In a store of this process alone nobody else is. A session that ends later than
 * any can was renewed before the database's clock was set back: it says nothing.
 */
export function serverLives({ kind }: Pick<Store, 'kind'>, server: RawBuilder<unknown>): RawBuilder<boolean> {
  if (kind === 'embedded') return sql<boolean>`1 = 0`
  return sql<boolean>`exists (select 1 from servers where servers.id = ${server}
    and servers.alive_until > ${now} and servers.alive_until < ${now} + ${2 * sessionMs})`
}
