// The table `deliveries`: which answers reached their callers (`deliveries.ts`).
import { createHash, randomUUID } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { LossQuery } from './journal/journal.ts'
import { unexpired } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import type { DeliveryRow } from '../store/tables.ts'

export interface UnkeyedRequest {
  /** The name of its plugin. */
  readonly interface: string
  /** The id of the client. */
  readonly client: string
  /** Its id before it had an entry in `conf/clients.yml`. */
  readonly formerClient?: string
  /** What makes two requests equal. */
  readonly fields: object
  readonly requestId: string
  /** false as soon as the connection is gone before the answer was written out. */
  readonly delivered: Promise<boolean>
  /** Resolves where it shows later that an answer that was written did not arrive. Else it never does. */
  readonly broken: Promise<void>
  /**
   * Of a request that came through `sluice proxy`, which reports whether its client has the answer (`Deliveries.report`): its name there. Then `broken`
   * resolves as soon as the connection of the proxy has ended, in whichever way.
   */
  readonly answerId?: string
  /** A connection that has waited so long for its answer counts as gone: a link that died tells nobody. */
  readonly staleSeconds: number
  /** A lost answer is given to an equal request until so long after its transaction became final and its client could know of the loss. */
  readonly collectSeconds: number
  /** Equal requests are one however they come. */
  readonly isOneForEver?: boolean
  /** Of one for ever: until its transaction has failed for good. */
  readonly isNewAfterFailure?: boolean
  /** Of one for ever: until its answer was delivered. */
  readonly isNewAfterAnswer?: boolean
}

/** What callers see of it. */
export interface LostAnswers {
  readonly state: Exclude<DeliveryRow['state'], 'failed'>
  readonly lost: number
  readonly joined: number
}

export interface LostDelivery extends LostAnswers {
  readonly idempotencyKey: string
  readonly interface: string
  readonly client: string
  /** Milliseconds since the Unix epoch. */
  readonly askedAt: number
}

/** With what the store says of its server. */
export type UnansweredRow = DeliveryRow & { readonly alive: unknown; readonly alive_until: unknown }

export type DeliveryTable = ReturnType<typeof createDeliveryTable>

const mostRecent = 500

/** As the index has it: SQLite uses an index of some rows only where the statement has its condition word for word. */
const isUnanswered = sql<boolean>`state in ('open', 'lost')`

/** @throws StoreUnavailable */
export const createDeliveryTable = (store: Store, serverId: string, nowMs: () => number) => ({
  ...readings(store, serverId, nowMs),
  ...changes(store, serverId, nowMs),
  ...deletions(store),
})

function readings(store: Store, serverId: string, nowMs: () => number) {
  const unanswered = (where: RawBuilder<boolean>): Promise<readonly UnansweredRow[]> =>
    store.read((db) =>
      db
        .selectFrom('deliveries')
        .selectAll()
        .select([
          store.isServerAlive(sql`server`).as('alive'),
          sql`(select alive_until from servers where servers.id = deliveries.server)`.as('alive_until'),
        ])
        .where(where)
        .orderBy('asked_at')
        .execute(),
    )
  return {
    unanswered: () => unanswered(isUnanswered),
    /** Also of the client's former name: its certificate's. */
    equal({ interface: name, client, formerClient = client, isOneForEver }: UnkeyedRequest, fingerprint: string) {
      const ids = [idOf(name, client, fingerprint), idOf(name, formerClient, fingerprint)] as const
      return unanswered(
        isOneForEver === true
          ? sql`id in (${ids[0]}, ${ids[1]})`
          : sql`client in (${client}, ${formerClient}) and fingerprint = ${fingerprint} and interface = ${name} and ${isUnanswered}`,
      )
    },
    reported: (answerIds: readonly string[]): Promise<readonly DeliveryRow[]> =>
      store.read((db) =>
        db
          .selectFrom('deliveries')
          .selectAll()
          .where('answer_id', 'in', answerIds)
          .where(sql<boolean>`answer_id <> ''`)
          .execute(),
      ),
    /** SQL: answers of equal requests that were lost, but for those that are known, by `holderOf`. */
    lossBeside(
      { interface: name, client, formerClient = client }: UnkeyedRequest,
      { id, fingerprint }: DeliveryRow,
      known: readonly string[],
    ): LossQuery {
      const isNew = known.length === 0 ? sql`` : sql`and id || ' ' || joins not in (${sql.join(known)})`
      return {
        equal: sql`select id, joins, state, server from deliveries
          where client in (${client}, ${formerClient}) and fingerprint = ${fingerprint} and interface = ${name} and ${isUnanswered} and id <> ${id}`,
        isLost: sql`(state = 'lost' or (server <> ${serverId} and not ${store.isServerAlive(sql`server`)})) ${isNew}`,
      }
    },
    /** Of requests that are one for ever, by their fingerprints, those whose transaction has failed for good. */
    async failedOf(
      { interface: name, client, formerClient = client }: UnkeyedRequest,
      fingerprints: readonly string[],
    ): Promise<ReadonlySet<string>> {
      const ids = fingerprints.flatMap((each) => [...new Set([idOf(name, client, each), idOf(name, formerClient, each)])])
      const rows = await store.read((db) =>
        db.selectFrom('deliveries').select('fingerprint').where('id', 'in', ids).where('state', '=', 'failed').execute(),
      )
      return new Set(rows.map(({ fingerprint }) => fingerprint))
    },
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
              .where('state', 'in', ['waiting', 'approved'])
              .where(unexpired(nowMs())),
          )
          .execute(),
      )
      return rows.length > 0
    },
    recent: async (): Promise<readonly LostDelivery[]> => {
      const rows = await store.read((db) =>
        db
          .selectFrom('deliveries')
          .select(['id', 'interface', 'client', 'state', 'joins', 'losses', 'asked_at'])
          .where(sql<boolean>`losses > 0`)
          .orderBy('asked_at', 'desc')
          .orderBy('id')
          .limit(mostRecent)
          .execute(),
      )
      return rows.map(({ id, joins, losses, asked_at, state, ...row }) => ({
        ...row,
        state: shownState(state),
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
      return rows.map(({ id, state, joins, losses }) => [id, { lost: losses, joined: joins, state: shownState(state) }])
    },
  }
}

/** Only the request that has a row now changes it. */
function changes(store: Store, serverId: string, nowMs: () => number) {
  return {
    /** As a request that takes its place has it. */
    joinedRow: (row: DeliveryRow, { answerId }: Pick<UnkeyedRequest, 'answerId'>, wasLost: boolean): DeliveryRow => ({
      ...columnsOf(row),
      server: serverId,
      state: 'open',
      asked_at: nextMs(nowMs()),
      lost_at: 0,
      joins: row.joins + 1,
      losses: wasLost && row.state === 'open' ? row.losses + 1 : row.losses,
      answer_id: answerId ?? '',
    }),
    /** @returns false where it is not as it was read, as another request took it */
    async join({ id, joins, state, prepared }: DeliveryRow, next: DeliveryRow): Promise<boolean> {
      const joined = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set(next)
          .where((eb) => eb.and({ id, joins, state, prepared }))
          .returning('id')
          .execute(),
      )
      return joined.length > 0
    },
    newRow: (
      { interface: name, client, staleSeconds, collectSeconds, isOneForEver, answerId = '' }: UnkeyedRequest,
      fingerprint: string,
    ): DeliveryRow => ({
      id: isOneForEver === true ? idOf(name, client, fingerprint) : newKey(),
      interface: name,
      client,
      fingerprint,
      server: serverId,
      state: 'open',
      asked_at: nowMs(),
      lost_at: 0,
      stale_ms: staleSeconds * 1000,
      collect_ms: collectSeconds * 1000,
      joins: 0,
      losses: 0,
      prepared: '',
      answer_id: answerId,
    }),
    /** @returns false where an equal one that is one for ever was opened at the same time */
    async open(row: DeliveryRow): Promise<boolean> {
      const opened = await store.writeOnce((db) =>
        db
          .insertInto('deliveries')
          .values(row)
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .execute(),
      )
      return opened.length > 0
    },
    /** Of what several decide at once for one that is one for ever, the first counts. @returns that; undefined where its row is gone */
    async decide({ id }: DeliveryRow, prepared: string): Promise<string | undefined> {
      const [decided] = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set({ prepared: sql`case when prepared = '' then ${prepared} else prepared end` })
          .where((eb) => eb.and({ id }))
          .returning('prepared')
          .execute(),
      )
      return decided?.prepared
    },
    /** @returns false where an equal request has it */
    async change({ id, joins, asked_at }: DeliveryRow, to: Partial<DeliveryRow> | 'nothing'): Promise<boolean> {
      const changed = await store.writeOnce<readonly unknown[]>((db) => {
        const own = { id, joins, asked_at }
        if (to !== 'nothing')
          return db
            .updateTable('deliveries')
            .set(to)
            .where((eb) => eb.and(own))
            .where('state', '!=', 'failed')
            .returning('id')
            .execute()
        return db
          .deleteFrom('deliveries')
          .where((eb) => eb.and(own))
          .where('state', '!=', 'failed')
          .returning('id')
          .execute()
      })
      return changed.length > 0
    },
    /** @returns false where it is not as it was read */
    async changeRead({ id, joins, state, answer_id }: DeliveryRow, to: Partial<DeliveryRow>): Promise<boolean> {
      const changed = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set(to)
          .where((eb) => eb.and({ id, joins, state, answer_id }))
          .returning('id')
          .execute(),
      )
      return changed.length > 0
    },
    /** Its transaction can never succeed, whoever has it: known for ever, as the outcome of its key is. */
    fail: (row: DeliveryRow) =>
      store.writeOnce((db) =>
        db
          .insertInto('deliveries')
          .values({ ...row, state: 'failed' })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ state: 'failed' }))
          .execute(),
      ),
    /** One whose answer was lost after it counted as delivered, and may have gone since. */
    restore: (row: DeliveryRow) =>
      store.writeOnce((db) =>
        db
          .insertInto('deliveries')
          .values(row)
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet({ state: row.state, lost_at: row.lost_at, losses: row.losses })
              .where('deliveries.joins', '=', row.joins)
              .where('deliveries.state', '!=', 'failed'),
          )
          .execute(),
      ),
    /** @returns false where another has done it, or a request has it */
    async giveUp({ id, joins }: DeliveryRow): Promise<boolean> {
      const given = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          // That of a server that ended without a word was not counted yet.
          .set({ state: 'uncollected', losses: sql`case when state = 'open' then losses + 1 else losses end` })
          .where((eb) => eb.and({ id, joins }))
          .where(isUnanswered)
          .returning('id')
          .execute(),
      )
      return given.length > 0
    },
  }
}

/** Of rows of answers that have arrived, asked for from `fromMs` until before `beforeMs`. */
function deletions(store: Store) {
  return {
    /** What is known for ever is what was lost, and what was signed for one that is one for ever: its key keeps that outcome. */
    deleteOld: (fromMs: number, beforeMs: number) =>
      store.writeOnce((db) =>
        db
          .deleteFrom('deliveries')
          .where(sql<boolean>`state = 'delivered' and losses = 0`)
          .where('asked_at', '>=', fromMs)
          .where('asked_at', '<', beforeMs)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('entries').select('key').whereRef('idempotency_key', '=', 'deliveries.id'))),
          )
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('archived').select('key').whereRef('idempotency_key', '=', 'deliveries.id'))),
          )
          .execute(),
      ),
    /** Those whose answers were reported as read, and whose clients can report nothing else any more. Of one that is one for ever the row stays. */
    deleteReported: (fromMs: number, beforeMs: number) =>
      store.writeOnce((db) =>
        db
          .deleteFrom('deliveries')
          .where(sql<boolean>`state = 'delivered' and losses = 0`)
          .where(sql<boolean>`answer_id <> '' and length(id) = ${newKey().length}`)
          .where('asked_at', '>=', fromMs)
          .where('asked_at', '<', beforeMs)
          .execute(),
      ),
  }
}

/** Without what the store says of its server. */
const columnsOf = ({ alive: _alive, alive_until: _until, ...row }: DeliveryRow & Partial<UnansweredRow>): DeliveryRow => row

/** That of one that has failed has arrived: nobody is told of the failure else. */
const shownState = (state: DeliveryRow['state']) => (state === 'failed' ? 'delivered' : state)

/** Of two requests that would take one place each has a time of its own: what is stored late of the first, which did not get it, is not stored of the second. */
function nextMs(nowMs: number): number {
  lastMs = nowMs > lastMs || nowMs < lastMs - maxAheadMs ? nowMs : lastMs + 1
  return lastMs
}
let lastMs = 0
/** More is a clock that was set back. */
const maxAheadMs = 1_000

/** What such keys begin with. */
export const keyPrefix = 'once-'

/** Of a request that is not one for ever: all are of one length, and those of the others longer. */
const newKey = (): string => `${keyPrefix}${randomUUID()}`

/** Of a request that is one for ever. */
const idOf = (name: string, client: string, fingerprint: string): string =>
  `${keyPrefix}${createHash('sha256')
    .update(JSON.stringify([name, client, fingerprint]))
    .digest('hex')}`

export const holderOf = ({ id, joins }: Pick<DeliveryRow, 'id' | 'joins'>): string => `${id} ${joins}`
