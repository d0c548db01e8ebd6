// The table `deliveries`: which answers reached their callers (`deliveries.ts`).
import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import type { DeliveryRow } from '../store/tables.ts'
import type { LostAnswers, LostDelivery, UnkeyedRequest } from './deliveries.ts'

/** With what the store says of its server. */
export type UnansweredRow = DeliveryRow & { readonly alive: unknown; readonly alive_until: unknown }

export type DeliveryTable = ReturnType<typeof createDeliveryTable>

const mostRecent = 500

/** Only the request that has a row now changes it. @throws StoreUnavailable */
export function createDeliveryTable(store: Store, serverId: string, nowMs: () => number) {
  const openStates: readonly DeliveryRow['state'][] = ['open', 'lost']
  const unanswered = (only: Partial<DeliveryRow> = {}, states = openStates): Promise<readonly UnansweredRow[]> =>
    store.read((db) =>
      db
        .selectFrom('deliveries')
        .selectAll()
        .select([
          store.isServerAlive(sql`server`).as('alive'),
          sql`(select alive_until from servers where servers.id = deliveries.server)`.as('alive_until'),
        ])
        .where((eb) => eb.and(only))
        .where('state', 'in', states)
        .orderBy('asked_at')
        .execute(),
    )
  return {
    unanswered,
    equal: ({ interface: name, client, isOneForEver }: UnkeyedRequest, fingerprint: string) =>
      isOneForEver === true
        ? unanswered({ id: idOf(name, client, fingerprint) }, [...openStates, 'delivered', 'uncollected'])
        : unanswered({ interface: name, client, fingerprint }),
    /** Whether something may still be signed under its key: it is being done, or waits for a second person. */
    async isUnderWay({ id, client }: DeliveryRow): Promise<boolean> {
      const rows = await store.read((db) =>
        db
          .selectFrom('requests')
          .select('key')
          .where((eb) => eb.and({ client, key: id }))
          .where('status', 'is', null)
          .where((eb) => eb.or([eb('server', '=', serverId), store.isServerAlive(sql`server`)]))
          .unionAll(
            db
              .selectFrom('approvals')
              .select('key')
              .where((eb) => eb.and({ client, key: id }))
              .where('state', 'in', ['waiting', 'approved']),
          )
          .execute(),
      )
      return rows.length > 0
    },
    /** What is known for ever is what was lost. */
    deleteOld: (beforeMs: number) =>
      store.writeOnce((db) =>
        db.deleteFrom('deliveries').where('losses', '=', 0).where('state', '=', 'delivered').where('asked_at', '<', beforeMs).execute(),
      ),
    recent: async (): Promise<readonly LostDelivery[]> => {
      const rows = await store.read((db) =>
        db
          .selectFrom('deliveries')
          .select(['id', 'interface', 'client', 'state', 'joins', 'losses', 'asked_at'])
          .where('losses', '>', 0)
          .orderBy('asked_at', 'desc')
          .orderBy('id')
          .limit(mostRecent)
          .execute(),
      )
      return rows.map(({ id, joins, losses, asked_at, ...row }) => ({
        ...row,
        idempotencyKey: id,
        lost: losses,
        joined: joins,
        askedAt: asked_at,
      }))
    },
    lost: async (keys: readonly string[]): Promise<(readonly [string, LostAnswers])[]> => {
      const rows = await store.read((db) =>
        db.selectFrom('deliveries').select(['id', 'state', 'joins', 'losses']).where('id', 'in', keys).where('losses', '>', 0).execute(),
      )
      return rows.map(({ id, state, joins, losses }) => [id, { lost: losses, joined: joins, state }])
    },
    /** The row with the number of the request that now has it; undefined where another one took it. */
    async join(row: DeliveryRow, wasLost: boolean): Promise<DeliveryRow | undefined> {
      const losses = wasLost && row.state === 'open' ? row.losses + 1 : row.losses
      const taken = { server: serverId, state: 'open', asked_at: nowMs(), joins: row.joins + 1, losses } as const
      const [joined] = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set(taken)
          .where((eb) => eb.and({ id: row.id, joins: row.joins, state: row.state }))
          .returning('id')
          .execute(),
      )
      return joined && { ...row, ...taken }
    },
    /** undefined where an equal one that is one for ever was opened at the same time */
    async open({ interface: name, client, staleSeconds, collectSeconds, isOneForEver }: UnkeyedRequest, fingerprint: string) {
      const row: DeliveryRow = {
        id: isOneForEver === true ? idOf(name, client, fingerprint) : `${keyPrefix}${randomUUID()}`,
        interface: name,
        client,
        fingerprint,
        server: serverId,
        state: 'open',
        asked_at: nowMs(),
        stale_ms: staleSeconds * 1000,
        collect_ms: collectSeconds * 1000,
        joins: 0,
        losses: 0,
        prepared: '',
      }
      const opened = await store.writeOnce((db) =>
        db
          .insertInto('deliveries')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .execute(),
      )
      return opened.length > 0 ? row : undefined
    },
    /** @returns false where an equal request has it */
    async change({ id, joins }: DeliveryRow, to: Partial<DeliveryRow> | 'nothing'): Promise<boolean> {
      const changed = await store.writeOnce<readonly unknown[]>((db) => {
        const own = { id, joins }
        if (to !== 'nothing')
          return db
            .updateTable('deliveries')
            .set(to)
            .where((eb) => eb.and(own))
            .returning('id')
            .execute()
        return db
          .deleteFrom('deliveries')
          .where((eb) => eb.and(own))
          .returning('id')
          .execute()
      })
      return changed.length > 0
    },
    /** @returns false where another has done it, or a request has it */
    async giveUp({ id, joins }: DeliveryRow): Promise<boolean> {
      const given = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          // That of a server that ended without a word was not counted yet.
          .set({ state: 'uncollected', losses: sql`case when state = 'open' then losses + 1 else losses end` })
          .where((eb) => eb.and({ id, joins }))
          .where('state', 'in', ['open', 'lost'])
          .returning('id')
          .execute(),
      )
      return given.length > 0
    },
  }
}

/** What such keys begin with. */
export const keyPrefix = 'once-'

/** Of a request that is one for ever. */
const idOf = (name: string, client: string, fingerprint: string): string =>
  `${keyPrefix}${createHash('sha256')
    .update(JSON.stringify([name, client, fingerprint]))
    .digest('hex')}`

export const holderOf = ({ id, joins }: Pick<DeliveryRow, 'id' | 'joins'>): string => `${id} ${joins}`
