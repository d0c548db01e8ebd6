// Which answers reached their callers, for interfaces whose clients send no Idempotency-Key. A client that lost an answer sends the same request
// again, and a client that wants the same a second time sends the same bytes, too: only whether the earlier answer was delivered tells them apart.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { SluiceError, type ErrorName } from '../base/errors.ts'
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { isFinal } from './entry.ts'
import { fingerprintOf } from './idempotency.ts'
import type { Journal } from './journal/journal.ts'

export interface Deliveries {
  /**
   * Does what a request asks for under an Idempotency-Key of its own. It has the key of an equal request of the same caller whose answer was lost, and
   * takes its place: once for each lost answer. While the earlier connection stands, and after a delivered answer, it is a new one.
   * @param prepare decides what is done, for the first of these requests: JSON, which the others get, too
   * @throws what these throw; StoreUnavailable, and nothing has happened
   */
  once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>): Promise<T>
  /** Of these Idempotency-Keys those with a lost answer. @throws StoreUnavailable */
  lostOf(keys: readonly string[]): Promise<ReadonlyMap<string, LostAnswers>>
  /** Those that were lost last, newest first. @throws StoreUnavailable */
  recent(): Promise<readonly LostDelivery[]>
  /** Finds lost answers that nobody collected. Runs by itself every minute. */
  sweep(): Promise<void>
  stop(): void
}

export interface UnkeyedRequest {
  /** The name of its plugin. */
  readonly interface: string
  /** The id of the client. */
  readonly client: string
  /** What makes two requests equal. */
  readonly fields: object
  /** false as soon as the connection is gone before the answer was written out. */
  readonly delivered: Promise<boolean>
  /** A connection that has waited so long for its answer counts as gone: a link that died tells nobody. */
  readonly staleSeconds: number
  /** A lost answer is given to an equal request until so long after its transaction became final. */
  readonly collectSeconds: number
}

/** What callers see of it. */
export interface LostAnswers extends Pick<DeliveryRow, 'state'> {
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

type DeliveryChange = 'lost' | 'joined' | 'uncollected'

interface DeliveriesOptions {
  store: Store
  serverId: string
  journal: Pick<Journal, 'list'>
  log: Log
  onChange?: (change: DeliveryChange) => void
  /** This machine's clock. Where it jumps ahead, a request may join one whose connection still stands: never the reverse within one server. */
  nowMs?: () => number
}

/** After these nobody knows whether something was signed. All others come before. */
const leavesOpen: ReadonlySet<ErrorName> = new Set(['TIMEOUT', 'IN_FLIGHT', 'OVERLOADED', 'UNKNOWN_ERROR', 'PENDING_APPROVAL'])

/** Another server may be about to write that the connection of an equal request is gone. */
const otherServerMs = 250
/** A client may ask again over another connection before this process has read that the first one is gone. */
const closeMs = 50
const sweepEveryMs = 60_000
/** Rows under whose key nothing was journaled. The key itself is known for a day. */
const keptMs = 26 * 3_600_000
const retryMs = 1_000
const mostRecent = 500

export function createDeliveries({ store, serverId, journal, log, onChange = () => {}, nowMs = Date.now }: DeliveriesOptions): Deliveries {
  const table = deliveryTable(store, serverId, nowMs)
  /** Connections of this process that are gone, by id and number: the store may not know it yet. */
  const gone = new Set<string>()
  const closing = new AbortController()
  let sweeping: Promise<void> | undefined
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'lost answers not looked for'))
  }, sweepEveryMs).unref()

  /** Whether its entry was final for longer than its answer is kept. */
  async function isOver({ id, collect_ms }: DeliveryRow): Promise<boolean | undefined> {
    const { entries } = await journal.list({ archived: true, idempotencyKey: id, limit: 1 })
    const [entry] = entries
    return entry && isFinal(entry) && entry.updatedAt + collect_ms < nowMs()
  }

  function isLost(row: UnansweredRow): boolean {
    if (row.state === 'lost' || gone.has(holderOf(row))) return true
    if (row.server !== serverId && !row.alive) return true
    return row.asked_at + row.stale_ms < nowMs()
  }

  const say = ({ interface: name, client, id }: DeliveryRow, change: DeliveryChange) => {
    onChange(change)
    log.warn({ interface: name, client, idempotencyKey: id }, words[change])
  }

  async function findLost(request: UnkeyedRequest, fingerprint: string): Promise<DeliveryRow | undefined> {
    let rows = await table.equal(request, fingerprint)
    const standing = rows.filter((row) => !isLost(row))
    if (standing.length > 0) {
      await pause(standing.some(({ server }) => server !== serverId) ? otherServerMs : closeMs, closing.signal)
      rows = await table.equal(request, fingerprint)
    }
    for (const row of rows) {
      if (!isLost(row)) continue
      if (await isOver(row)) {
        if (await table.giveUp(row)) say(row, 'uncollected')
        continue
      }
      const joined = await table.join(row)
      if (!joined) continue
      say(joined, 'joined')
      return joined
    }
    return undefined
  }

  /** Tried until it is stored: until then this process knows it by `gone`. */
  async function change(row: DeliveryRow, to: Partial<DeliveryRow> | 'nothing'): Promise<void> {
    for (;;)
      try {
        await table.change(row, to)
        gone.delete(holderOf(row))
        return
      } catch (error) {
        if (closing.signal.aborted) return
        log.warn({ reason: reasonOf(error) }, 'whether an answer was delivered is not stored yet')
        await pause(retryMs, closing.signal, { ref: false })
      }
  }

  async function lose(row: DeliveryRow): Promise<void> {
    gone.add(holderOf(row))
    say(row, 'lost')
    await change(row, { state: 'lost', losses: row.losses + 1 })
  }

  /** Nothing was signed for it, or its answer has arrived. */
  const settle = (row: DeliveryRow) => change(row, row.losses === 0 ? 'nothing' : { state: 'delivered' })

  async function sweepNow(): Promise<void> {
    for (const row of await table.unanswered()) {
      if (closing.signal.aborted) return
      if (!isLost(row)) continue
      const over = await isOver(row)
      if (over && (await table.giveUp(row))) say(row, 'uncollected')
      else if (over === undefined && row.asked_at + keptMs < nowMs()) await change(row, 'nothing')
    }
  }

  const sweep = () => (sweeping ??= sweepNow().finally(() => (sweeping = undefined)))

  return {
    async once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>) {
      let isGone = false
      void request.delivered.then((isDelivered) => void (isGone = !isDelivered))
      const fingerprint = fingerprintOf(request.fields)
      const row = (await findLost(request, fingerprint)) ?? (await table.open(request, fingerprint, await prepare()))
      // An equal request may have come before this one was stored, and is another: nothing is done for both.
      if (isGone) {
        await (row.joins === 0 ? change(row, 'nothing') : lose(row))
        throw new SluiceError('TIMEOUT', 'The caller was gone before anything was signed for it, so nothing was.')
      }
      const prepared: P = JSON.parse(row.prepared)
      let outcome: 'under way' | 'known' | 'unknown' | 'nothing' = 'under way'
      void request.delivered.then((isDelivered) => {
        if (outcome === 'nothing') return undefined
        // What was answered meanwhile is not what became of it.
        return isDelivered && outcome === 'known' ? settle(row) : lose(row)
      })
      try {
        const answer = await act(row.id, prepared)
        outcome = 'known'
        return answer
      } catch (error) {
        outcome = !(error instanceof SluiceError) || leavesOpen.has(error.name) ? 'unknown' : 'nothing'
        // Before the refusal is answered: an equal request after it is a new one.
        if (outcome === 'nothing') await settle(row)
        throw error
      }
    },
    lostOf: async (keys) => {
      const own = keys.filter((key) => key.startsWith(keyPrefix))
      return new Map(own.length === 0 ? [] : await table.lost(own))
    },
    recent: table.recent,
    sweep,
    stop() {
      clearInterval(timer)
      closing.abort()
    },
  }
}

const words: Readonly<Record<DeliveryChange, string>> = {
  lost: 'no answer reached the caller, or none that says what became of it',
  joined: 'a request has joined an equal one whose answer was lost',
  uncollected: 'nobody asked again for a lost answer',
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')

type UnansweredRow = DeliveryRow & { readonly alive: unknown }

/** The table `deliveries`. Only the request that has a row now changes it. @throws StoreUnavailable */
function deliveryTable(store: Store, serverId: string, nowMs: () => number) {
  const unanswered = (only: Partial<DeliveryRow> = {}): Promise<readonly UnansweredRow[]> =>
    store.read((db) =>
      db
        .selectFrom('deliveries')
        .selectAll()
        .select(store.isServerAlive(sql`server`).as('alive'))
        .where((eb) => eb.and(only))
        .where('state', 'in', ['open', 'lost'])
        .orderBy('asked_at')
        .execute(),
    )
  return {
    unanswered,
    equal: ({ interface: name, client }: UnkeyedRequest, fingerprint: string) => unanswered({ interface: name, client, fingerprint }),
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
    async join(row: DeliveryRow): Promise<DeliveryRow | undefined> {
      const losses = row.state === 'lost' ? row.losses : row.losses + 1
      const taken = { server: serverId, state: 'open', asked_at: nowMs(), joins: row.joins + 1, losses } as const
      const [joined] = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set(taken)
          .where((eb) => eb.and({ id: row.id, joins: row.joins }))
          .where('state', 'in', ['open', 'lost'])
          .returning('id')
          .execute(),
      )
      return joined && { ...row, ...taken }
    },
    async open({ interface: name, client, staleSeconds, collectSeconds }: UnkeyedRequest, fingerprint: string, prepared: object) {
      const row: DeliveryRow = {
        id: `${keyPrefix}${randomUUID()}`,
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
        prepared: JSON.stringify(prepared),
      }
      await store.writeOnce((db) => db.insertInto('deliveries').values(row).execute())
      return row
    },
    change: ({ id, joins }: DeliveryRow, to: Partial<DeliveryRow> | 'nothing') =>
      store.writeOnce<unknown>((db) => {
        const own = { id, joins }
        if (to !== 'nothing')
          return db
            .updateTable('deliveries')
            .set(to)
            .where((eb) => eb.and(own))
            .execute()
        return db
          .deleteFrom('deliveries')
          .where((eb) => eb.and(own))
          .execute()
      }),
    /** @returns false where another has done it, or a request has it */
    async giveUp({ id, joins }: DeliveryRow): Promise<boolean> {
      const given = await store.writeOnce((db) =>
        db
          .updateTable('deliveries')
          .set({ state: 'uncollected' })
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

const holderOf = ({ id, joins }: Pick<DeliveryRow, 'id' | 'joins'>): string => `${id} ${joins}`
