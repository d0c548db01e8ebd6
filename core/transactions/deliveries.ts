// Which answers reached their callers, for interfaces whose clients send no Idempotency-Key. A client that lost an answer sends the same request
// again, and a client that wants the same a second time sends the same bytes, too: only whether the earlier answer was delivered tells them apart.
import { SluiceError, type ErrorName } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Log } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { DeliveryRow } from '../store/tables.ts'
import { createDeliveryChanges, reasonOf, type DeliveryChange, type ReportedAnswer } from './delivery-changes.ts'
import {
  createDeliveryTable,
  keyPrefix,
  type DeliveryTable,
  type LostAnswers,
  type LostDelivery,
  type UnkeyedRequest,
} from './delivery-table.ts'
import { fingerprintOf } from './idempotency.ts'
import type { Journal } from './journal/journal.ts'
import { createLostAnswers, mayHaveTraded } from './lost-answers.ts'
import { createPreparedRows } from './prepared-rows.ts'
import type { UnkeyedRequests } from './unkeyed-requests.ts'

export interface Deliveries {
  /**
   * Does what a request asks for under an Idempotency-Key of its own. It has the key of an equal request of the same caller whose answer was lost, and
   * takes its place: once for each lost answer. While the earlier connection stands, and after a delivered answer, it is a new one.
   * @param prepare decides what is done, for the first of these requests: JSON, which the others get, too
   * @throws what these throw; StoreUnavailable, and nothing has happened
   */
  once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>): Promise<T>
  /**
   * What a proxy says of the answers to requests that came through it. Until then such an answer is neither delivered nor lost; where the connection of the
   * proxy ends before, it counts as lost until a report says that it was read. Of an unknown one nothing is done. @throws StoreUnavailable
   */
  report(answers: readonly ReportedAnswer[]): Promise<void>
  /** Of these Idempotency-Keys those with a lost answer. @throws StoreUnavailable */
  lostOf(keys: readonly string[]): Promise<ReadonlyMap<string, LostAnswers>>
  /** Those that were lost last, newest first. @throws StoreUnavailable */
  recent(): Promise<readonly LostDelivery[]>
  /** Finds lost answers that nobody collected. Runs by itself every minute. */
  sweep(): Promise<void>
  stop(): void
}

interface DeliveriesOptions {
  store: Store
  serverId: string
  journal: Pick<Journal, 'list'>
  log: Log
  requests: UnkeyedRequests
  onChange?: (change: DeliveryChange) => void
  /** This machine's clock. Where it jumps ahead, a request may join one whose connection still stands: never the reverse within one server. */
  nowMs?: () => number
  /** A clock that is never set. */
  steadyMs?: () => number
}

/** After these nobody knows whether something was signed. All others come before. */
export const leavesOpen: ReadonlySet<ErrorName> = new Set([
  'TIMEOUT',
  'IN_FLIGHT',
  'IDEMPOTENCY_CONFLICT',
  'OVERLOADED',
  'UNKNOWN_ERROR',
  'PENDING_APPROVAL',
])

const sweepEveryMs = 60_000
/** Rows under whose key nothing was journaled. The key itself is known for a day. */
const keptMs = 26 * 3_600_000
/** Of an answer that was reported as read: until then its client may turn out not to have read it. A proxy closes connections that are idle for 90 s. */
const reportedMs = 1_800_000

export function createDeliveries({
  store,
  serverId,
  journal,
  log,
  requests,
  onChange = () => {},
  nowMs = Date.now,
  steadyMs = () => performance.now(),
}: DeliveriesOptions): Deliveries {
  const table = createDeliveryTable(store, serverId, nowMs)
  const { gone } = requests
  const closing = new AbortController()
  /** Of rows that were asked for before it, those that are still there stay: they are not looked at each minute. */
  let [sweptMs, sweptReportedMs] = [0, 0]
  let sweeping: Promise<void> | undefined
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'lost answers not looked for'))
  }, sweepEveryMs).unref()

  const say = ({ interface: name, client, id }: DeliveryRow, change: DeliveryChange) => {
    onChange(change)
    log.warn({ interface: name, client, idempotencyKey: id }, words[change])
  }

  const { change, leave, lose, loseLater, loseUnreported, report, fail, forget, settle, refuse } = createDeliveryChanges({
    table,
    gone,
    storing: requests.storing,
    signal: closing.signal,
    nowMs,
    say,
    log,
  })
  const { isSigned, giveUpAll, rowOf, findLostBeside } = createLostAnswers({
    table,
    journal,
    serverId,
    requests,
    startedAt: nowMs(),
    change,
    fail,
    forget,
    signal: closing.signal,
    nowMs,
    steadyMs,
    say,
  })

  const { preparedRow, rowBeside, stillWanted } = createPreparedRows({ table, rowOf, findLostBeside, leave, settle, forget })

  /** What a request leaves that was refused. */
  async function end(row: DeliveryRow, request: UnkeyedRequest, error: unknown): Promise<void> {
    const { isOneForEver, isNewAfterFailure, isNewAfterAnswer } = request
    if (isNewAfterFailure === true && isFailure(error)) return fail(row)
    // Of one that is one for ever the refusal may be of this request alone: what an earlier one signed is its outcome, and was decided then.
    if (isOneForEver === true && (await isSigned(row).catch(() => true))) return isNewAfterAnswer === true ? lose(row) : settle(row, true)
    return refuse(row)
  }

  /** Whether a refusal leaves open what becomes of its request: it may be of this one alone, where that of the lost answer before it was signed. */
  async function doesLeaveOpen(error: unknown, row: DeliveryRow, { isOneForEver }: UnkeyedRequest): Promise<boolean> {
    if (!(error instanceof SluiceError) || leavesOpen.has(error.name)) return true
    if (row.joins === 0 || isOneForEver === true || isFailure(error)) return false
    return mayHaveTraded(row, { isActing: requests.isActing, journal, table }).catch(() => true)
  }

  async function sweepNow(): Promise<void> {
    const beforeMs = nowMs() - keptMs
    await table.deleteOld(sweptMs, beforeMs)
    sweptMs = beforeMs
    const reportedBeforeMs = nowMs() - reportedMs
    await table.deleteReported(sweptReportedMs, reportedBeforeMs)
    sweptReportedMs = reportedBeforeMs
    await giveUpAll(await table.unanswered())
  }

  const sweep = () => (sweeping ??= sweepNow().finally(() => (sweeping = undefined)))

  return {
    async once<P extends object, T>(request: UnkeyedRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>) {
      const fingerprint = fingerprintOf(request.fields)
      const followed = requests.follow(request, fingerprint, (row, known) => table.lossBeside(request, row, known))
      let outcome: 'under way' | 'known' | 'unknown' | 'nothing' = 'under way'
      try {
        let has = await stillWanted(await preparedRow(request, fingerprint, prepare, followed), followed)
        void request.delivered.then(async (isDelivered) => {
          if (outcome === 'nothing') return
          // What was answered meanwhile is not what became of it.
          if (outcome !== 'known' || (!isDelivered && request.answerId === undefined)) return lose(has.row)
          if (request.answerId !== undefined) {
            // A busy process reads the end of a connection before it knows that its answer was written: the proxy may have it, and its client, too.
            if (isDelivered) await request.broken
            return loseUnreported(has.row)
          }
          await settle(has.row, has.row.losses > 0 || request.isOneForEver === true)
          await request.broken
          await loseLater(has.row)
        })
        for (;;)
          try {
            const answer = await followed.during(() => act(has.row.id, has.prepared))
            outcome = 'known'
            return answer
          } catch (error) {
            if (followed.gaveWay()) {
              const beside = await rowBeside(has, request, fingerprint, followed)
              if (beside) has = await stillWanted(beside, followed)
              continue
            }
            outcome = (await doesLeaveOpen(error, has.row, request)) ? 'unknown' : 'nothing'
            if (outcome === 'nothing') followed.signedNothing()
            // Before the refusal is answered: an equal request after it is a new one.
            if (outcome === 'nothing') await end(has.row, request, error)
            throw error
          }
      } finally {
        followed.end()
      }
    },
    report,
    lostOf: (keys) => lostOf(keys, table),
    recent: table.recent,
    sweep,
    stop() {
      clearInterval(timer)
      closing.abort()
    },
  }
}

async function lostOf(keys: readonly string[], table: DeliveryTable): Promise<ReadonlyMap<string, LostAnswers>> {
  const own = keys.filter((key) => key.startsWith(keyPrefix))
  return new Map(own.length === 0 ? [] : await table.lost(own))
}

/** Its transaction can never succeed. Other refusals come before there is one. */
const isFailure = (error: unknown): boolean =>
  error instanceof SluiceError && error.name === 'TRADE_FAILED' && isObject(error.details) && typeof error.details['txHash'] === 'string'

const words: Readonly<Record<DeliveryChange, string>> = {
  lost: 'no answer reached the caller, or none that says what became of it',
  joined: 'a request has joined an equal one whose answer was lost',
  uncollected: 'nobody asked again for a lost answer',
}
