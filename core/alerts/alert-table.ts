// What people are told of, in the store: each thing once, however often it is seen, by however many servers, over restarts.
import { sql } from 'kysely'
import type { RuleName, Severity } from '../config/alerts-file.ts'
import type { Store } from '../store/store.ts'
import type { Finding } from './message.ts'
import { tellingTimes } from './outbox-table.ts'
import { chunks, readSilence, silencesIn, tellDue, type Silence, type TellOptions } from './tell.ts'

/** What there is, of whichever server. */
export interface KnownAlert extends Finding {
  readonly rule: string
  readonly severity: string
  /** Milliseconds since the Unix epoch. */
  readonly raisedAt: number
  /** The last time, to a minute or so. */
  readonly foundAt: number
  /** When the first channel took it. Absent: nobody was told yet. */
  readonly toldAt?: number
  readonly isResolved: boolean
}

export interface AlertTable {
  /** Adds what is new, and goes on with what was over. @throws StoreUnavailable */
  raise(rule: RuleName, severity: Severity, found: readonly Finding[]): Promise<void>
  /** Notes that these are still so. @throws StoreUnavailable */
  findAgain(rule: RuleName, subjects: readonly string[]): Promise<void>
  /** Says of these that they are over, as far as this server saw them, or one that has ended. @throws StoreUnavailable */
  resolve(rule: string, subjects: readonly string[]): Promise<void>
  /** All that there is, oldest first. @throws StoreUnavailable */
  list(): Promise<readonly KnownAlert[]>
  /** Puts what nobody was told yet into the outbox of each channel: one message for a rule. @returns how many messages @throws StoreUnavailable */
  tell(options: TellOptions): Promise<number>
  silences(): Promise<readonly Silence[]>
  silence(silence: Silence): Promise<void>
  /** @returns those that were there */
  unsilence(of: { readonly rule?: string | undefined; readonly subject?: string | undefined }): Promise<readonly Silence[]>
}

interface TableOptions {
  readonly store: Store
  /** Of this process. */
  readonly serverId: string
  readonly nowMs?: () => number
}

export function createAlertTable({ store, serverId, nowMs = Date.now }: TableOptions): AlertTable {
  return {
    async raise(rule, severity, found) {
      const raisedAt = nowMs()
      for (const some of chunks(found)) {
        const rows = some.map(({ subject, words }) => ({
          rule,
          subject,
          severity,
          words,
          server: serverId,
          raised_at: raisedAt,
          found_at: raisedAt,
          told_at: null,
          resolved_at: null,
        }))
        await store.writeOnce((db) =>
          db
            .insertInto('alerts')
            .values(rows)
            .onConflict((conflict) =>
              conflict
                .columns(['rule', 'subject'])
                .doUpdateSet({ resolved_at: null, server: serverId, found_at: raisedAt })
                .where('alerts.resolved_at', 'is not', null),
            )
            .execute(),
        )
      }
    },
    async findAgain(rule, subjects) {
      for (const some of chunks(subjects))
        await store.writeOnce((db) =>
          db.updateTable('alerts').set({ found_at: nowMs() }).where('rule', '=', rule).where('subject', 'in', some).execute(),
        )
    },
    async resolve(rule, subjects) {
      for (const some of chunks(subjects))
        await store.writeOnce((db) =>
          db
            .updateTable('alerts')
            .set({ resolved_at: nowMs() })
            .where('rule', '=', rule)
            .where('subject', 'in', some)
            .where('resolved_at', 'is', null)
            .where((eb) => eb.or([eb('server', '=', serverId), eb.not(store.isServerAlive(sql.ref('alerts.server')))]))
            .execute(),
        )
    },
    list: () =>
      store.read(async (db) => {
        const rows = await db.selectFrom('alerts').selectAll().orderBy('raised_at').orderBy('subject').execute()
        const toldAt = await tellingTimes(db)
        return rows.map(
          ({ rule, subject, words, severity, raised_at: raisedAt, found_at: foundAt, told_at: queuedAt, resolved_at: resolvedAt }) => {
            const told = queuedAt === null ? undefined : toldAt(rule, queuedAt)
            return {
              rule,
              subject,
              words,
              severity,
              raisedAt,
              foundAt,
              isResolved: resolvedAt !== null,
              ...(told !== undefined && { toldAt: told }),
            }
          },
        )
      }),
    tell: (options) => store.write((tx) => tellDue(tx, options, { nowMs: nowMs(), isLocked: store.kind === 'postgres' })),
    silences: () => store.read((db) => silencesIn(db, nowMs())),
    silence: ({ rule = '', subject = '', until, setBy, reason = null }) =>
      store.write(async (tx) => {
        await tx.deleteFrom('alert_silences').where('until', '<=', nowMs()).execute()
        const row = { until, set_by: setBy, reason }
        await tx
          .insertInto('alert_silences')
          .values({ rule, subject, ...row })
          .onConflict((conflict) => conflict.columns(['rule', 'subject']).doUpdateSet(row))
          .execute()
      }),
    unsilence: ({ rule = '', subject = '' }) =>
      store.write(async (tx) => {
        const rows = await tx
          .deleteFrom('alert_silences')
          .where((eb) => eb.and({ rule, subject }))
          .returningAll()
          .execute()
        return rows.filter(({ until }) => until > nowMs()).map(readSilence)
      }),
  }
}
