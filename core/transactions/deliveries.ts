// Which answers reached their callers, for interfaces whose clients send no Idempotency-Key. A client that lost an answer sends the same request
// again, and a client that wants the same a second time sends the same bytes, too: only whether the earlier answer was delivered tells them apart.
import { SluiceError, type ErrorName } from '../base/errors.ts'
import { pause } from '../base/async.ts'
import type { Log } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { createDeliveryTable, holderOf, keyPrefix, type DeliveryTable, type UnansweredRow } from './delivery-table.ts'
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
  /** Equal requests are one however they come. */
  readonly isOneForEver?: boolean
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

/** Between two looks at what another server says of the connection of an equal request. */
const otherServerMs = 250
/** A server that has ended without a word is known to be dead by then. */
const deadServerMs = 7_000
/** A client may ask again over another connection before this process has read that the first one is gone. */
const closeMs = 50
const sweepEveryMs = 60_000
/** Rows under whose key nothing was journaled. The key itself is known for a day. */
const keptMs = 26 * 3_600_000
const retryMs = 1_000

export function createDeliveries({ store, serverId, journal, log, onChange = () => {}, nowMs = Date.now }: DeliveriesOptions): Deliveries {
  const table = createDeliveryTable(store, serverId, nowMs)
  /** Connections of this process that are gone, by id and number: the store may not know it yet. */
  const gone = new Set<string>()
  const closing = new AbortController()
  let sweeping: Promise<void> | undefined
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'lost answers not looked for'))
  }, sweepEveryMs).unref()

  const say = ({ interface: name, client, id }: DeliveryRow, change: DeliveryChange) => {
    onChange(change)
    log.warn({ interface: name, client, idempotencyKey: id }, words[change])
  }

  const { isLost, isOver, findLost } = createLostFinder({ table, journal, serverId, gone, signal: closing.signal, nowMs, say })

  async function rowOf(request: UnkeyedRequest, fingerprint: string): Promise<DeliveryRow> {
    for (;;) {
      const row = (await findLost(request, fingerprint)) ?? (await table.open(request, fingerprint))
      if (row) return row
    }
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

  /** Its answer has arrived, or nothing was signed for it. */
  const settle = (row: DeliveryRow, isKept = row.losses > 0) => change(row, isKept ? { state: 'delivered' } : 'nothing')

  /** undefined where an equal request has taken its place. */
  async function prepareFor<P extends object>(
    row: DeliveryRow,
    prepare: () => Promise<P>,
    { isOneForEver }: UnkeyedRequest,
  ): Promise<P | undefined> {
    let prepared: P
    try {
      prepared = await prepare()
    } catch (error) {
      await settle(row)
      throw error
    }
    const isOurs = await table.change(row, { prepared: JSON.stringify(prepared) })
    return isOurs || isOneForEver === true ? prepared : undefined
  }

  async function sweepNow(): Promise<void> {
    await table.deleteOld(nowMs() - keptMs)
    for (const row of await table.unanswered()) {
      if (closing.signal.aborted) return
      if (!isLost(row)) continue
      const over = await isOver(row)
      if (over && (await table.giveUp(row))) say(row, 'uncollected')
    }
  }

  const sweep = () => (sweeping ??= sweepNow().finally(() => (sweeping = undefined)))

  return {
    async once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>) {
      let isGone = false
      void request.delivered.then((isDelivered) => void (isGone = !isDelivered))
      const fingerprint = fingerprintOf(request.fields)
      const row = await rowOf(request, fingerprint)
      const prepared = row.prepared === '' ? await prepareFor(row, prepare, request) : (JSON.parse(row.prepared) as P)
      // An equal request may have taken its place meanwhile; or nobody is there, and nothing is done for nobody.
      if (isGone || prepared === undefined) {
        await (row.joins === 0 ? change(row, 'nothing') : lose(row))
        throw new SluiceError('TIMEOUT', 'The caller was gone before anything was signed for it, so nothing was.')
      }
      let outcome: 'under way' | 'known' | 'unknown' | 'nothing' = 'under way'
      void request.delivered.then((isDelivered) => {
        if (outcome === 'nothing') return undefined
        // What was answered meanwhile is not what became of it.
        return isDelivered && outcome === 'known' ? settle(row, row.losses > 0 || request.isOneForEver === true) : lose(row)
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

interface LostFinderParts {
  readonly table: DeliveryTable
  readonly journal: Pick<Journal, 'list'>
  readonly serverId: string
  /** Connections of this process that are gone, by `holderOf`. */
  readonly gone: Set<string>
  readonly signal: AbortSignal
  readonly nowMs: () => number
  readonly say: (row: DeliveryRow, change: DeliveryChange) => void
}

/** Finds the lost answer that a request is for. */
function createLostFinder({ table, journal, serverId, gone, signal, nowMs, say }: LostFinderParts) {
  /** Whether nobody may collect it any more: its entry was final for so long, or nothing can come of it. */
  async function isOver(row: DeliveryRow): Promise<boolean> {
    const { id, client, asked_at, stale_ms, collect_ms } = row
    const { entries } = await journal.list({ archived: true, idempotencyKey: id, client, limit: 1 })
    const [entry] = entries
    if (entry) return isFinal(entry) && entry.updatedAt + collect_ms < nowMs()
    return asked_at + stale_ms + collect_ms < nowMs() && !(await table.isUnderWay(row))
  }

  function isLost(row: UnansweredRow): boolean {
    if (row.state === 'lost' || gone.has(holderOf(row))) return true
    if (row.server !== serverId && !row.alive) return true
    return row.asked_at + row.stale_ms < nowMs()
  }

  /** The row of a lost answer, which this request has from now on. */
  async function findLost(request: UnkeyedRequest, fingerprint: string): Promise<DeliveryRow | undefined> {
    for (const row of await settledRows(request, fingerprint)) {
      if (!isLost(row) && request.isOneForEver !== true) continue
      if (request.isOneForEver !== true && (await isOver(row))) {
        if (await table.giveUp(row)) say(row, 'uncollected')
        continue
      }
      const joined = await joinOf(row, isLost(row))
      if (!joined) continue
      if (isLost(row)) say(joined, 'joined')
      return joined
    }
    return undefined
  }

  /** Once it is known of each whether its connection stands: its server may have ended, or be about to say that it is gone. */
  async function settledRows(request: UnkeyedRequest, fingerprint: string): Promise<readonly UnansweredRow[]> {
    const first = await table.equal(request, fingerprint)
    if (request.isOneForEver === true || first.every(isLost)) return first
    const before = new Map(first.map(({ server, alive_until }) => [server, Number(alive_until)]))
    const isDoubtful = (row: UnansweredRow) =>
      row.server !== serverId && !isLost(row) && Number(row.alive_until) <= (before.get(row.server) ?? 0)
    for (const endMs = performance.now() + deadServerMs; ;) {
      await pause(closeMs, signal)
      const rows = await table.equal(request, fingerprint)
      if (!rows.some(isDoubtful) || performance.now() > endMs || signal.aborted) return rows
      await pause(otherServerMs, signal)
    }
  }

  async function joinOf(row: DeliveryRow, wasLost: boolean): Promise<DeliveryRow | undefined> {
    try {
      return await table.join(row, wasLost)
    } catch (error) {
      // Where it was done all the same, nobody has the row: the next request may.
      gone.add(holderOf({ id: row.id, joins: row.joins + 1 }))
      throw error
    }
  }

  return { isLost, isOver, findLost }
}

const words: Readonly<Record<DeliveryChange, string>> = {
  lost: 'no answer reached the caller, or none that says what became of it',
  joined: 'a request has joined an equal one whose answer was lost',
  uncollected: 'nobody asked again for a lost answer',
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
