// What an operator has stopped, in the store: all servers on it go by it from the moment it is answered, also after a restart.
import { sql, type RawBuilder } from 'kysely'
import { addressKey } from '../base/addresses.ts'
import { oneAtATime } from '../base/async.ts'
import { stopModes, type StopMode } from '../api/limits.ts'
import { modesAgainst, scopeWords, type Effect, type Stop, type StopScope } from '../config/stops.ts'
import { StoreUnavailable, type Store, type StoreLog } from '../store/store.ts'
import type { StopRow } from '../store/tables.ts'
import type { Spending } from './budgets.ts'
import type { Entry, Kind } from './entry.ts'
import { reasonOf } from '../base/errors.ts'

const cancels: ReadonlySet<Kind> = new Set(['cancel', 'fill', 'order-cancel'])

/** What a stop asks of a transaction. A fill of a nonce gap does nothing, and lets the cancels behind it be mined. */
export function effectOf({ kind, reduces }: Pick<Entry, 'kind' | 'reduces'>): Effect {
  if (cancels.has(kind)) return 'cancels'
  return reduces ? 'reduces' : 'other'
}

/** Of the steps of one plan, that which may least. */
export function leastEffect(entries: readonly Pick<Entry, 'kind' | 'reduces'>[]): Effect {
  const effects = entries.map(effectOf)
  return (['other', 'reduces'] as const).find((each) => effects.includes(each)) ?? 'cancels'
}

export type StoredStop = Pick<StopRow, 'mode' | 'scope' | 'subject' | 'set_by' | 'set_at' | 'reason'>
const columns = ['mode', 'scope', 'subject', 'set_by', 'set_at', 'reason'] as const

/** SQL: the stop that keeps entries from being signed, or no row. It is part of the transaction that writes them. */
export type StopQuery = RawBuilder<StoredStop>

/**
 * @param client who asks, where that may be another one than the entries'
 * @returns undefined where no stop keeps them from it
 */
export function stopQuery(entries: readonly Entry[], client?: string): StopQuery | undefined {
  const [first] = entries
  const modes = modesAgainst(leastEffect(entries))
  if (!first || modes.length === 0) return undefined
  const { address, signer = address, client: own } = first
  const subjects = { wallets: [address, signer].map(addressKey), clients: [own, client ?? own] }
  return sql`select ${sql.join(columns.map((each) => sql.ref(each)))} from stops
    where lifted_at is null and mode in (${modes[0]}, ${modes.at(-1)})
      and (scope = 'all' or (scope = 'wallet' and subject in (${sql.join(subjects.wallets)}))
        or (scope = 'client' and subject in (${sql.join(subjects.clients)})))
    order by mode desc, id limit 1`
}

export const raiseQuery = ({ steps, client }: Spending): StopQuery | undefined =>
  stopQuery(
    steps.map(({ entry }) => entry),
    client,
  )

export function readStop({ mode, scope, subject, set_by, set_at, reason }: StoredStop): Stop {
  return {
    mode: mode === 'reduce-only' ? mode : 'stop',
    scope: scope === 'wallet' || scope === 'client' ? { of: scope, subject } : { of: 'all' },
    setBy: set_by,
    since: set_at,
    ...(reason !== null && { reason }),
  }
}

/** Who sets or lifts a stop. */
interface By {
  readonly client: string
  readonly requestId: string
}

/** One that was lifted. */
export interface LiftedStop extends Stop {
  /** The id of a client. */
  readonly liftedBy: string
  /** Milliseconds since the Unix epoch. */
  readonly liftedAt: number
}

export interface StopState {
  /** As `list`. */
  readonly inForce: readonly Stop[]
  /** The last ones that were lifted, newest first. Those of files leave no trace. */
  readonly lifted: readonly LiftedStop[]
}

export interface Stops {
  /** Those in force: of the store, oldest first, and of the files of this server. @throws StoreUnavailable */
  list(): Promise<readonly Stop[]>
  /** The same as it was read last, a second ago at most. */
  known(): readonly Stop[]
  /**
   * What is journaled after it has resolved is held by it, on every server. One that is in force already stays as it is.
   * @throws StoreUnavailable: then it may be in force, and holds for certain once it is set again
   */
  set(stop: { mode: StopMode; scope: StopScope; reason?: string | undefined }, by: By): Promise<Stop>
  /** @param mode absent: both @returns those that were in force @throws StoreUnavailable */
  lift(of: { scope: StopScope; mode?: StopMode | undefined }, by: By): Promise<readonly Stop[]>
  /** Calls with what is known, and with each change by whichever server, until the returned function is called. */
  follow(changed: (state: StopState) => void): () => void
  /** Reads what other servers and files say. Runs by itself every second. Never rejects. */
  refresh(): Promise<void>
  stop(): void
}

interface StopsOptions {
  store: Pick<Store, 'read' | 'writeOnce'>
  /** Returns when the writes that were under way on all servers have ended. */
  waitForWriters(): Promise<unknown>
  log: StoreLog
  /** Of the files in the data folder. */
  readFiles?(): readonly Stop[]
  /** With those of the store, whenever they are others. */
  onChange?(stored: readonly Stop[]): void
  nowMs?: () => number
}

/** What another server set is told to this one's signer so late at most. The journal's write asks the store in any case. */
const refreshMs = 1_000
const liftedShown = 20
const nothing: readonly Stop[] = []

export function createStops({
  store,
  waitForWriters,
  log,
  readFiles = () => [],
  onChange = () => {},
  nowMs = Date.now,
}: StopsOptions): Stops {
  let shown = '[]'
  let shownFiles = '[]'
  let state: StopState | undefined
  const followers = new Set<(state: StopState) => void>()
  let isFailing = false
  /** Whether whoever changed what the next reading finds logs it. */
  let isSaid = false
  // Else what was read before a change could hold after it.
  const refresh = oneAtATime(readNow)
  const timer = setInterval(() => void refresh(), refreshMs).unref()

  const stored = async (): Promise<readonly Stop[]> =>
    store.read(async (db) =>
      (await db.selectFrom('stops').select(columns).where('lifted_at', 'is', null).orderBy('id').execute()).map(readStop),
    )

  const inForce = async (scope: StopScope): Promise<readonly Stop[]> => (await stored()).filter((stop) => isSame(stop.scope, scope))

  function refreshSaid(): Promise<void> {
    isSaid = true
    return refresh()
  }

  async function readNow(): Promise<void> {
    const wasSaid = isSaid
    isSaid = false
    const files = readFiles()
    const areOthers = JSON.stringify(files) !== shownFiles
    if (areOthers) sayFiles(files)
    shownFiles = JSON.stringify(files)
    try {
      const now = await stored()
      isFailing = false
      const isOther = JSON.stringify(now) !== shown
      if (isOther || areOthers || !state) tell({ inForce: [...now, ...files], lifted: await lastLifted() })
      if (!isOther) return
      shown = JSON.stringify(now)
      onChange(now)
      for (const { mode, scope, setBy, since, reason } of wasSaid ? [] : now)
        log.warn({ mode, of: scopeWords(scope), setBy, since, reason }, `${mode} is in force for ${scopeWords(scope)}`)
    } catch (error) {
      // Logged once as long as it lasts.
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'what is stopped not read; tried again')
      isFailing = true
    }
  }

  const lastLifted = async (): Promise<readonly LiftedStop[]> =>
    store.read(async (db) => {
      const rows = await db
        .selectFrom('stops')
        .select([...columns, 'lifted_by', 'lifted_at'])
        .where('lifted_at', 'is not', null)
        .orderBy('lifted_at', 'desc')
        .orderBy('id', 'desc')
        .limit(liftedShown)
        .execute()
      return rows.map((row) => ({ ...readStop(row), liftedBy: row.lifted_by ?? '', liftedAt: row.lifted_at ?? 0 }))
    })

  function tell(now: StopState): void {
    state = now
    for (const changed of followers) changed(now)
  }

  function sayFiles(files: readonly Stop[]): void {
    if (files.length === 0) log.warn({}, 'no file in the data folder stops anything any more')
    for (const { mode, scope, file, reason } of files)
      log.warn({ mode, of: scopeWords(scope), file, reason }, `${mode} is in force for ${scopeWords(scope)} by the file ${file}`)
  }

  return {
    list: async () => [...(await stored()), ...readFiles()],
    known: () => state?.inForce ?? nothing,
    follow(changed) {
      const follower = (now: StopState) => changed(now)
      followers.add(follower)
      if (state) changed(state)
      return () => void followers.delete(follower)
    },
    refresh,
    stop: () => clearInterval(timer),
    async set({ mode, scope, reason }, { client, requestId }) {
      const before = await inForce(scope)
      const row = { mode, ...columnsOf(scope), set_by: client, set_at: nowMs(), request_id: requestId, reason: reason ?? null }
      await store.writeOnce((db) =>
        db
          .insertInto('stops')
          .values({ ...row, lifted_at: null, lifted_by: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      )
      // Also where it was in force: whoever set it may still be waiting.
      await waitForWriters()
      await refreshSaid()
      const set = (await inForce(scope)).find((each) => each.mode === mode)
      log.warn(
        { by: client, requestId, of: scopeWords(scope), before: before.map((each) => each.mode), now: mode, reason },
        `${mode} set for ${scopeWords(scope)}`,
      )
      if (!set) throw new StoreUnavailable('the stop was lifted at the same moment')
      return set
    },
    async lift({ scope, mode }, { client, requestId }) {
      const { scope: column, subject } = columnsOf(scope)
      const rows = await store.writeOnce((db) => {
        const all = db
          .updateTable('stops')
          .set({ lifted_at: nowMs(), lifted_by: client })
          .where('lifted_at', 'is', null)
          .where('scope', '=', column)
          .where('subject', '=', subject)
        return (mode === undefined ? all : all.where('mode', '=', mode)).returning(columns).execute()
      })
      const lifted = rows.map(readStop).toSorted((a, b) => stopModes.indexOf(a.mode) - stopModes.indexOf(b.mode))
      if (lifted.length > 0)
        log.warn(
          { by: client, requestId, of: scopeWords(scope), before: lifted.map((each) => each.mode) },
          `${lifted.map((each) => each.mode).join(' and ')} lifted for ${scopeWords(scope)}`,
        )
      await refreshSaid()
      return lifted
    },
  }
}

const columnsOf = (scope: StopScope) =>
  scope.of === 'all' ? { scope: scope.of, subject: '' } : { scope: scope.of, subject: subjectOf(scope) }

const subjectOf = ({ of, subject }: Exclude<StopScope, { of: 'all' }>): string => (of === 'wallet' ? addressKey(subject) : subject)

const isSame = (one: StopScope, other: StopScope): boolean => {
  const [a, b] = [columnsOf(one), columnsOf(other)]
  return a.scope === b.scope && a.subject === b.subject
}
