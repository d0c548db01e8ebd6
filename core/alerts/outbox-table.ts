// Messages in the store: which is due, what became of it, and what is old. Each is tried by one server at a time.
import { sql } from 'kysely'
import { isObject, parseJson } from '../base/json.ts'
import { severities } from '../config/alerts-file.ts'
import type { Store } from '../store/store.ts'
import type { AlertMessage } from './message.ts'

export interface OutboxTable {
  /**
   * Takes what is due, the longest first, and of one rule the oldest first: what is over is not told before what began. One that its
   * service never takes holds up no other rule, and its own for an hour or so.
   * @throws StoreUnavailable
   */
  claim(channel: string): Promise<ClaimedMessage | undefined>
  /** Gives it back as it was. */
  release(id: number): Promise<void>
  /** @param missed who of several did not get it, and why */
  delivered(id: number, missed?: string): Promise<void>
  /** What nobody was told of by it is told again, if it lasts. */
  giveUp(id: number, reason: string): Promise<void>
  /** It failed, and is tried again. */
  retry(id: number, reason: string, nextMs: number): Promise<void>
  add(channels: readonly string[], message: AlertMessage): Promise<void>
  /** Deletes what has ended long ago, and gives up what is for no channel any more. */
  tidy(channels: readonly string[]): Promise<void>
  /** Gives up what is least urgent and then the oldest of a channel, beyond what may wait. @returns how many */
  dropExcess(channel: string): Promise<number>
  state(channel: string): Promise<ChannelState>
}

/** A message, and how often it was tried. */
export interface ClaimedMessage {
  readonly id: number
  readonly tries: number
  readonly madeAt: number
  readonly body: string
}

/** A channel as people see it. */
export interface ChannelState {
  readonly name: string
  readonly waiting: number
  /** Of the last message that was tried: why it was not delivered. */
  readonly reason?: string
  /** Milliseconds since the Unix epoch. */
  readonly deliveredAt?: number
}

/** Clocks of servers differ by less. A time that is further ahead was written before the clock was set back: nothing waits for it. */
export const clockSlackMs = 60_000
/** A message that failed is tried again by then. */
const longestPauseMs = 15 * 60_000
/** Of a message and of its channel: 5 s, then twice as long each time, up to 15 minutes. */
export const pauseMs = (tries: number): number => (tries === 0 ? 0 : Math.min(5_000 * 2 ** (tries - 1), longestPauseMs))
/** By the number of tries, until they grow no more. */
const pauses = Array.from({ length: 9 }, (_, tries) => pauseMs(tries))
/** What was begun and not ended by then is begun anew: by the same server, or by another once that one has ended. */
const claimMs = 60_000
export const giveUpMs = 24 * 3_600_000
const keepMs = 7 * 24 * 3_600_000
/** A message that was tried so often holds up later ones of its rule no longer: more than an hour. */
const triesInOrder = 12
/** Of one channel. */
const maxWaiting = 200

interface OutboxTableOptions {
  readonly store: Pick<Store, 'read' | 'write' | 'writeOnce' | 'isServerAlive'>
  /** Of this process. */
  readonly serverId: string
  nowMs(): number
}

export function createOutboxTable({ store, serverId, nowMs }: OutboxTableOptions): OutboxTable {
  const change = (id: number, fields: object) =>
    store.writeOnce((db) =>
      db
        .updateTable('alert_messages')
        .set({ claimed_until: 0, ...fields })
        .set((eb) => ('reason' in fields ? { tries: eb('tries', '+', 1) } : {}))
        .where('id', '=', id)
        .execute(),
    )
  /** Whether no other server that runs is at it: the times of its claims are by its own clock. */
  const isLeft = (table: 'alert_messages' | 'due') => {
    const [until, server] = [sql.ref(`${table}.claimed_until`), sql.ref(`${table}.server`)]
    return sql<boolean>`(${until} = 0 or ${server} = ${serverId} or not ${store.isServerAlive(server)})`
  }
  /** Later than it can have been put off by a clock that was not set back since. */
  const isAhead = (now: number) => {
    const whens = pauses.map((ms, tries) => sql`when ${sql.lit(tries)} then ${sql.lit(ms)}`)
    const pause = sql`case ${sql.ref('due.tries')} ${sql.join(whens, sql` `)} else ${sql.lit(longestPauseMs)} end`
    return sql<boolean>`${sql.ref('due.next_at')} - ${pause} > ${now + clockSlackMs}`
  }

  return {
    async claim(channel) {
      const now = nowMs()
      const row = await store.writeOnce((db) =>
        db
          .updateTable('alert_messages')
          .set({ server: serverId, claimed_until: now + claimMs })
          .where('id', '=', (eb) =>
            eb
              .selectFrom('alert_messages as due')
              .select('due.id')
              .where('due.channel', '=', channel)
              .where('due.state', '=', 'waiting')
              .where((of) => of.or([of('due.next_at', '<=', now), isAhead(now)]))
              .where((of) => of.or([of('due.claimed_until', '<=', now), of('due.claimed_until', '>', now + claimMs + clockSlackMs)]))
              .where(isLeft('due'))
              .where((of) =>
                of.not(
                  of.exists(
                    of
                      .selectFrom('alert_messages as older')
                      .select('older.id')
                      .where('older.channel', '=', channel)
                      .where('older.state', '=', 'waiting')
                      .whereRef('older.rule', '=', 'due.rule')
                      .where('older.rule', '<>', 'test')
                      .whereRef('older.id', '<', 'due.id')
                      .where('older.tries', '<', triesInOrder),
                  ),
                ),
              )
              .orderBy('due.next_at')
              .orderBy('due.id')
              .limit(1),
          )
          .where('state', '=', 'waiting')
          .where((eb) => eb.or([eb('claimed_until', '<=', now), eb('claimed_until', '>', now + claimMs + clockSlackMs)]))
          .where(isLeft('alert_messages'))
          .returning(['id', 'tries', 'made_at as madeAt', 'body'])
          .executeTakeFirst(),
      )
      return row
    },
    release: async (id) => void (await change(id, {})),
    delivered: async (id, missed) => void (await change(id, { state: 'delivered', ended_at: nowMs(), reason: missed ?? null })),
    giveUp: (id, reason) =>
      store.write(async (tx) => {
        await giveUp(tx, [id], { reason, ended_at: nowMs(), tries: 1 })
      }),
    retry: async (id, reason, nextMs) => void (await change(id, { reason, next_at: nextMs })),
    async add(names, message) {
      const rows = names.map((name) => messageRow(name, message))
      if (rows.length > 0) await store.writeOnce((db) => db.insertInto('alert_messages').values(rows).execute())
    },
    async tidy(names) {
      const now = nowMs()
      await store.writeOnce((db) =>
        db
          .deleteFrom('alert_messages')
          .where('ended_at', '<', now - keepMs)
          .execute(),
      )
      await store.write(async (tx) => {
        const forNobody = await tx
          .selectFrom('alert_messages')
          .select('id')
          .where('state', '=', 'waiting')
          .where('next_at', '<', now - giveUpMs)
          .$if(names.length > 0, (query) => query.where('channel', 'not in', names))
          .execute()
        await giveUp(
          tx,
          forNobody.map(({ id }) => id),
          { reason: 'there is no such channel any more', ended_at: now, tries: 0 },
        )
      })
    },
    dropExcess: (channel) =>
      store.write(async (tx) => {
        const rows = await tx
          .selectFrom('alert_messages')
          .select(['id', 'body'])
          .where('channel', '=', channel)
          .where('state', '=', 'waiting')
          .orderBy('id')
          .execute()
        if (rows.length <= maxWaiting) return 0
        const excess = rows.toSorted((a, b) => urgencyOf(a.body) - urgencyOf(b.body)).slice(0, rows.length - maxWaiting)
        const ids = excess.map(({ id }) => id)
        await giveUp(tx, ids, { reason: 'too many wait for the channel', ended_at: nowMs(), tries: 0 })
        return ids.length
      }),
    state: (name) =>
      store.read(async (db) => {
        const of = db.selectFrom('alert_messages').where('channel', '=', name)
        const { waiting } = await of
          .where('state', '=', 'waiting')
          .select((eb) => eb.fn.countAll().as('waiting'))
          .executeTakeFirstOrThrow()
        const last = await of.where('tries', '>', 0).select('reason').orderBy('id', 'desc').limit(1).executeTakeFirst()
        const good = await of.where('state', '=', 'delivered').select('ended_at').orderBy('id', 'desc').limit(1).executeTakeFirst()
        return {
          name,
          waiting: Number(waiting),
          ...(typeof last?.reason === 'string' && { reason: last.reason }),
          ...(typeof good?.ended_at === 'number' && { deliveredAt: good.ended_at }),
        }
      }),
  }
}

type Tx = Parameters<Parameters<Store['write']>[0]>[0]

/** Where no other channel has a message, what is told of in it has been told to nobody. */
async function giveUp(
  tx: Tx,
  ids: readonly number[],
  { tries, ...as }: { reason: string; ended_at: number; tries: number },
): Promise<void> {
  const given = await Promise.all(
    ids.map((id) =>
      tx
        .updateTable('alert_messages')
        .set({ state: 'failed', claimed_until: 0, ...as })
        .set((eb) => ({ tries: eb('tries', '+', tries) }))
        .where('id', '=', id)
        .where('state', '=', 'waiting')
        .returning(['rule', 'made_at as madeAt'])
        .executeTakeFirst(),
    ),
  )
  const told = new Map(given.flatMap((each) => (each ? [[`${each.rule} ${each.madeAt}`, each] as const] : [])))
  for (const { rule, madeAt } of told.values()) {
    const same = await tx
      .selectFrom('alert_messages')
      .select(['state', 'body'])
      .where('rule', '=', rule)
      .where('made_at', '=', madeAt)
      .execute()
    const raised = same.filter(({ body }) => fieldOf(body, 'status') === 'raised')
    if (raised.length === 0 || raised.some(({ state }) => state !== 'failed')) continue
    // The time of a message is that of telling (`tellDue`).
    await tx.updateTable('alerts').set({ told_at: null }).where('rule', '=', rule).where('told_at', '=', madeAt).execute()
  }
}

/** @returns when the first channel took what was told at that time; undefined while it waits */
export async function tellingTimes(
  db: Parameters<Parameters<Store['read']>[0]>[0],
): Promise<(rule: string, madeAt: number) => number | undefined> {
  const rows = await db
    .selectFrom('alert_messages')
    .select((eb) => ['rule', 'made_at', eb.fn.min('ended_at').filterWhere('state', '=', 'delivered').as('deliveredAt')])
    .groupBy(['rule', 'made_at'])
    .execute()
  const times = new Map(rows.map(({ rule, made_at, deliveredAt }) => [`${rule} ${made_at}`, deliveredAt ?? undefined]))
  // What was told longer ago than messages are kept has arrived, or was heard by no channel.
  return (rule, madeAt) => (times.has(`${rule} ${madeAt}`) ? times.get(`${rule} ${madeAt}`) : madeAt)
}

function fieldOf(body: string, field: 'status' | 'severity'): unknown {
  const message = parseJson(body)
  return isObject(message) ? message[field] : undefined
}

const urgencyOf = (body: string): number => {
  const severity = fieldOf(body, 'severity')
  return severities.findIndex((each) => each === severity)
}

/** A message as it is put into the outbox. */
export const messageRow = (channel: string, message: AlertMessage) => ({
  channel,
  rule: message.rule,
  made_at: message.at,
  state: 'waiting' as const,
  tries: 0,
  next_at: message.at,
  server: null,
  claimed_until: 0,
  ended_at: null,
  reason: null,
  body: JSON.stringify(message),
})
