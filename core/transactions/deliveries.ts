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

interface DeliveriesOptions {
  store: Store
  serverId: string
  journal: Pick<Journal, 'list'>
  log: Log
  onChange?: (change: 'lost' | 'joined' | 'uncollected') => void
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

export function createDeliveries({ store, serverId, journal, log, onChange = () => {}, nowMs = Date.now }: DeliveriesOptions): Deliveries {
  /** Connections of this process that are gone, by id and number: the store may not know it yet. */
  const gone = new Set<string>()
  const closing = new AbortController()
  let sweeping: Promise<void> | undefined
  const timer = setInterval(() => {
    sweep().catch((error: unknown) =>
      log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'lost answers not looked for'),
    )
  }, sweepEveryMs).unref()

  /** Whether its entry was final for longer than its answer is kept. */
  async function isOver({ id, collect_ms }: DeliveryRow): Promise<boolean | undefined> {
    const { entries } = await journal.list({ archived: true, idempotencyKey: id, limit: 1 })
    const [entry] = entries
    return entry && isFinal(entry) && entry.updatedAt + collect_ms < nowMs()
  }

  const equalRows = (request: UnkeyedRequest, fingerprint: string) =>
    store.read((db) =>
      db
        .selectFrom('deliveries')
        .selectAll()
        .select(store.isServerAlive(sql`server`).as('alive'))
        .where((eb) => eb.and({ interface: request.interface, client: request.client, fingerprint }))
        .where('state', 'in', ['open', 'lost'])
        .orderBy('asked_at')
        .execute(),
    )

  type EqualRow = Awaited<ReturnType<typeof equalRows>>[number]

  function isLost(row: EqualRow): boolean {
    if (row.state === 'lost' || gone.has(holderOf(row))) return true
    if (row.server !== serverId && !row.alive) return true
    return row.asked_at + row.stale_ms < nowMs()
  }

  /** The number of the request that now has the row. */
  async function join(row: DeliveryRow): Promise<boolean> {
    const [joined] = await store.writeOnce((db) =>
      db
        .updateTable('deliveries')
        .set({
          server: serverId,
          state: 'open',
          asked_at: nowMs(),
          joins: row.joins + 1,
          losses: row.state === 'lost' ? row.losses : row.losses + 1,
        })
        .where((eb) => eb.and({ id: row.id, joins: row.joins }))
        .where('state', 'in', ['open', 'lost'])
        .returning('id')
        .execute(),
    )
    return joined !== undefined
  }

  async function findLost(request: UnkeyedRequest, fingerprint: string): Promise<DeliveryRow | undefined> {
    let rows = await equalRows(request, fingerprint)
    const standing = rows.filter((row) => !isLost(row))
    if (standing.length > 0) {
      await pause(standing.some(({ server }) => server !== serverId) ? otherServerMs : closeMs, closing.signal)
      rows = await equalRows(request, fingerprint)
    }
    for (const row of rows) {
      if (!isLost(row)) continue
      if (await isOver(row)) await giveUp(row)
      else if (await join(row)) return { ...row, joins: row.joins + 1, losses: row.state === 'lost' ? row.losses : row.losses + 1 }
    }
    return undefined
  }

  async function open(request: UnkeyedRequest, fingerprint: string, prepared: object): Promise<DeliveryRow> {
    const row: DeliveryRow = {
      id: `${keyPrefix}${randomUUID()}`,
      interface: request.interface,
      client: request.client,
      fingerprint,
      server: serverId,
      state: 'open',
      asked_at: nowMs(),
      stale_ms: request.staleSeconds * 1000,
      collect_ms: request.collectSeconds * 1000,
      joins: 0,
      losses: 0,
      prepared: JSON.stringify(prepared),
    }
    await store.writeOnce((db) => db.insertInto('deliveries').values(row).execute())
    return row
  }

  /** Only the request that has the row now changes it. Tried until it is stored: until then this process knows it by `gone`. */
  async function change(row: DeliveryRow, to: Partial<DeliveryRow> | 'nothing'): Promise<void> {
    const holder = holderOf(row)
    for (;;)
      try {
        await store.writeOnce<unknown>((db) =>
          to === 'nothing'
            ? db
                .deleteFrom('deliveries')
                .where((eb) => eb.and({ id: row.id, joins: row.joins }))
                .execute()
            : db
                .updateTable('deliveries')
                .set(to)
                .where((eb) => eb.and({ id: row.id, joins: row.joins }))
                .execute(),
        )
        gone.delete(holder)
        return
      } catch (error) {
        if (closing.signal.aborted) return
        log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'whether an answer was delivered is not stored yet')
        await pause(retryMs, closing.signal, { ref: false })
      }
  }

  async function lose(row: DeliveryRow): Promise<void> {
    gone.add(holderOf(row))
    onChange('lost')
    log.warn(
      { interface: row.interface, client: row.client, idempotencyKey: row.id },
      'no answer reached the caller, or none that says what became of it',
    )
    await change(row, { state: 'lost', losses: row.losses + 1 })
  }

  async function giveUp(row: DeliveryRow): Promise<void> {
    const [given] = await store.writeOnce((db) =>
      db
        .updateTable('deliveries')
        .set({ state: 'uncollected' })
        .where((eb) => eb.and({ id: row.id, joins: row.joins }))
        .where('state', 'in', ['open', 'lost'])
        .returning('id')
        .execute(),
    )
    if (!given) return
    onChange('uncollected')
    log.warn({ interface: row.interface, client: row.client, idempotencyKey: row.id }, 'nobody asked again for a lost answer')
  }

  async function sweepNow(): Promise<void> {
    const rows = await store.read((db) =>
      db
        .selectFrom('deliveries')
        .selectAll()
        .select(store.isServerAlive(sql`server`).as('alive'))
        .where('state', 'in', ['open', 'lost'])
        .execute(),
    )
    for (const row of rows) {
      if (closing.signal.aborted) return
      if (!isLost(row)) continue
      const over = await isOver(row)
      if (over) await giveUp(row)
      else if (over === undefined && row.asked_at + keptMs < nowMs()) await change(row, 'nothing')
    }
  }

  const sweep = () => (sweeping ??= sweepNow().finally(() => (sweeping = undefined)))

  return {
    async once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>) {
      const fingerprint = fingerprintOf(request.fields)
      const joined = await findLost(request, fingerprint)
      const row = joined ?? (await open(request, fingerprint, await prepare()))
      const prepared: P = JSON.parse(row.prepared)
      if (joined) {
        onChange('joined')
        log.warn(
          { interface: row.interface, client: row.client, idempotencyKey: row.id },
          'a request has joined an equal one whose answer was lost',
        )
      }
      let outcome: 'under way' | 'known' | 'unknown' | 'nothing' = 'under way'
      void request.delivered.then((isDelivered) => {
        if (outcome === 'nothing') return undefined
        // What was answered meanwhile is not what became of it.
        if (!isDelivered || outcome !== 'known') return lose(row)
        return change(row, row.losses === 0 ? 'nothing' : { state: 'delivered' })
      })
      try {
        const answer = await act(row.id, prepared)
        outcome = 'known'
        return answer
      } catch (error) {
        outcome = !(error instanceof SluiceError) || leavesOpen.has(error.name) ? 'unknown' : 'nothing'
        // Before the refusal is answered: an equal request after it is a new one.
        if (outcome === 'nothing') await change(row, row.losses === 0 ? 'nothing' : { state: 'delivered' })
        throw error
      }
    },
    sweep,
    stop() {
      clearInterval(timer)
      closing.abort()
    },
  }
}

/** What such keys begin with. */
export const keyPrefix = 'once-'

const holderOf = ({ id, joins }: Pick<DeliveryRow, 'id' | 'joins'>): string => `${id} ${joins}`
