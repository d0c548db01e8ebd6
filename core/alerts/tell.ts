// Puts what nobody was told yet into the outbox: one message for a rule, and then a pause, however many there are.
import type { SelectQueryBuilder } from 'kysely'
import { severities, type RuleName, type Severity } from '../config/alerts-file.ts'
import type { Store } from '../store/store.ts'
import type { AlertSilenceRow, Tables } from '../store/tables.ts'
import { maxItems, safeFinding, type AlertMessage } from './message.ts'
import { clockSlackMs, messageRow } from './outbox-table.ts'

export interface Silence {
  /** Absent: all rules. */
  readonly rule?: string
  /** Absent: all of the rule. */
  readonly subject?: string
  /** Milliseconds since the Unix epoch. */
  readonly until: number
  readonly setBy: string
  readonly reason?: string
}

/** A rule, as messages show it. */
interface ToldRule {
  readonly title: string
  readonly remedy: string
  readonly over?: string
}

/** Who is told. */
interface Listener {
  readonly name: string
  readonly minSeverity?: Severity | undefined
  readonly resolved?: boolean | undefined
}

export interface TellOptions {
  readonly rules: Readonly<Record<string, ToldRule>>
  readonly channels: readonly Listener[]
  readonly groupMs: number
  /** How long others have to say that it is not over, where several servers look. */
  readonly overMs?: number
  /** For people. */
  readonly server: string
}

/** What comes within so short a time is told together. */
export const collectMs = 300
/** In one statement: databases bound the number of values. */
const rowsAtOnce = 500
/** Of one rule. */
export const maxAlerts = 20_000

type Tx = Parameters<Parameters<Store['write']>[0]>[0]
type Row = Pick<Tables['alerts'], 'rule' | 'subject' | 'severity' | 'words' | 'resolved_at' | 'told_at'>

/** @param isLocked so that another server waits, and then finds it told @returns how many messages */
export async function tellDue(tx: Tx, options: TellOptions, { nowMs, isLocked }: { nowMs: number; isLocked: boolean }): Promise<number> {
  const due = await dueAlerts(tx, { nowMs, overMs: options.overMs ?? 0 }, isLocked)
  if (due.length === 0) return 0
  const silenced = await silencesIn(tx, nowMs)
  const messages: AlertMessage[] = []
  for (const [rule, rows] of byRule(due)) {
    const over = rows.filter((row) => row.resolved_at !== null)
    const fresh = rows.filter((row) => row.resolved_at === null && !silenced.some((each) => isSilenced(row, each)))
    const told = over.filter((row) => row.told_at !== null)
    // Nobody was told of it, so that nobody is told that it is over.
    await remove(
      tx,
      rule,
      over.filter((row) => row.told_at === null),
    )
    if (fresh.length + told.length === 0 || (await hasMessage(tx, rule, { after: nowMs - options.groupMs, nowMs }))) continue
    if (fresh.length > 0) messages.push(messageOf('raised', fresh, { rule, nowMs, options }))
    if (told.length > 0) messages.push(messageOf('resolved', told, { rule, nowMs, options }))
    for (const some of chunks(fresh.map(({ subject }) => subject)))
      await tx.updateTable('alerts').set({ told_at: nowMs }).where('rule', '=', rule).where('subject', 'in', some).execute()
    await remove(tx, rule, told)
  }
  const rows = messages.flatMap((message) =>
    options.channels.filter((channel) => hears(channel, message)).map(({ name }) => messageRow(name, message)),
  )
  for (const some of chunks(rows)) await tx.insertInto('alert_messages').values(some).execute()
  return rows.length
}

function dueAlerts(tx: Tx, { nowMs, overMs }: { nowMs: number; overMs: number }, isLocked: boolean) {
  const isAhead = nowMs + clockSlackMs
  const locked = <O>(query: SelectQueryBuilder<Tables, 'alerts', O>) => (isLocked ? query.forUpdate() : query)
  return locked(
    tx
      .selectFrom('alerts')
      .selectAll()
      .where((eb) =>
        eb.or([
          eb('resolved_at', '<=', nowMs - overMs),
          eb('resolved_at', '>', isAhead),
          eb.and([
            eb('told_at', 'is', null),
            eb('resolved_at', 'is', null),
            eb.or([eb('raised_at', '<=', nowMs - collectMs), eb('raised_at', '>', isAhead)]),
          ]),
        ]),
      )
      .orderBy('raised_at')
      .orderBy('subject')
      .limit(2 * maxAlerts),
  ).execute()
}

export async function silencesIn(db: Parameters<Parameters<Store['read']>[0]>[0], nowMs: number): Promise<readonly Silence[]> {
  const rows = await db.selectFrom('alert_silences').selectAll().where('until', '>', nowMs).orderBy('until').execute()
  return rows.map(readSilence)
}

const hasMessage = async (tx: Tx, rule: string, { after, nowMs }: { after: number; nowMs: number }): Promise<boolean> =>
  (await tx
    .selectFrom('alert_messages')
    .select('id')
    .where('rule', '=', rule)
    .where('made_at', '>', after)
    .where('made_at', '<=', nowMs + clockSlackMs)
    .limit(1)
    .executeTakeFirst()) !== undefined

async function remove(tx: Tx, rule: string, rows: readonly Row[]): Promise<void> {
  for (const some of chunks(rows.map(({ subject }) => subject)))
    await tx.deleteFrom('alerts').where('rule', '=', rule).where('subject', 'in', some).execute()
}

function byRule<T extends { readonly rule: string }>(rows: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const row of rows) {
    const same = found.get(row.rule)
    if (same) same.push(row)
    else found.set(row.rule, [row])
  }
  return found
}

const isSilenced = (of: Row, { rule, subject }: Silence): boolean =>
  (rule === undefined || rule === of.rule) && (subject === undefined || subject === of.subject)

const rank = (severity: string): number => severities.findIndex((each) => each === severity)

function hears({ minSeverity = 'info', resolved = true }: Listener, { status, severity }: AlertMessage): boolean {
  return rank(severity) >= rank(minSeverity) && (resolved || status !== 'resolved')
}

interface MessageContext {
  readonly rule: string
  readonly nowMs: number
  readonly options: TellOptions
}

function messageOf(
  status: 'raised' | 'resolved',
  rows: readonly Row[],
  { rule, nowMs, options: { rules, server } }: MessageContext,
): AlertMessage {
  const worst = rows.reduce((most, { severity }) => Math.max(most, rank(severity)), 0)
  return {
    status,
    rule: rule as RuleName,
    severity: severities[worst] ?? 'info',
    title: rules[rule]?.title ?? rule,
    remedy: rules[rule]?.remedy ?? '',
    ...(status === 'resolved' && rules[rule]?.over !== undefined && { over: rules[rule].over }),
    count: rows.length,
    items: rows.slice(0, maxItems).map(safeFinding),
    at: nowMs,
    server,
  }
}

export const readSilence = ({ rule, subject, until, set_by: setBy, reason }: AlertSilenceRow): Silence => ({
  ...(rule !== '' && { rule }),
  ...(subject !== '' && { subject }),
  until,
  setBy,
  ...(reason !== null && { reason }),
})

export function* chunks<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += rowsAtOnce) yield all.slice(from, from + rowsAtOnce)
}
