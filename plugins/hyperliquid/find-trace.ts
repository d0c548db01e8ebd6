import type { At, PollResult, OpenAttempt, AttemptStatus } from 'sluice/plugin'
import { isTracedStep, withdrawalFee, type Trace, type TracedStep } from './actions.ts'
import type { AnsweredMoves } from './answered-moves.ts'
import { orderStatusWeight, type ExchangeClock, type QueryInfo, type RateLimiter } from './api.ts'
import { add, compare } from 'sluice/decimal'
import { nonceLivesMs, type ClockOffset, type NonceSet, type Sequence } from './nonces.ts'
import type { OrderUpdates } from './order-updates.ts'
import { isOpen, needsFills, progressOf, readOrderStatus, readOwnFills, type WireFill, type WireOrderStatus } from './orders.ts'
import { refusalOf, type ActionStatus, type Receipt } from './send.ts'
import { anything, array, decimal, flag, integer, is, nothing, object, shape, text, union, type Infer } from './shape.ts'

/** Orders are queried one by one, and each query counts against the rate limit: at most so many attempts in a poll, the others in the next. */
const maxAttempts = 10
/** Of an answer with as many entries as the exchange gives. */
const longListWeight = 120
/** One that the rate limit left no room for so long is looked at where callers take all of it: one in this time, so that they have most of it. */
const patienceMs = 30_000
/** How far what the exchange tells may lag behind what it has carried out. */
const lagMs = 10_000

interface PollParts {
  queryInfo: QueryInfo
  limiter: Pick<RateLimiter, 'hasRoom' | 'keepRoom'>
  clock: ExchangeClock
  /** Nonces that the exchange says were used, by an action whose answer was lost. */
  used: NonceSet
  moves: Pick<AnsweredMoves, 'countSince'>
  updates: OrderUpdates
  /** Of a clock that nobody sets. */
  steadyMs?: () => number
}

/** Finds the outcome of actions whose answer was lost: by the trace that they left behind, or by their expiry. */
export function createPoll({ queryInfo, limiter, clock, used, moves, updates, steadyMs = () => performance.now() }: PollParts) {
  const findTrace = createTraceFinder({ queryInfo, clock, used, moves })
  /** When each was looked at last, or was here first. */
  let lookedAtMs = new Map<string, number>()
  let keptRoomAtMs = -Infinity

  const lookedAt = ({ id }: { id: string }): number => lookedAtMs.get(id) ?? steadyMs()

  /** One that has waited for long takes room that callers leave it from now on. @returns whether it is there */
  function takeKeptRoom(id: string, weight: number): boolean {
    if (steadyMs() - Math.max(lookedAt({ id }), keptRoomAtMs) < patienceMs || !limiter.keepRoom(weight)) return false
    keptRoomAtMs = steadyMs()
    return true
  }

  async function observe(id: string, step: TracedStep, { nonce }: Sequence, nowMs: Promise<number>, at: At): Promise<AttemptStatus> {
    const endMs = step.expiresAfter ?? nonce + nonceLivesMs
    // While the known clock is behind, the search is not thorough. The next poll's is.
    const wasThorough = clock.nowMs() > endMs
    const [receipt, now] = await Promise.all([findTrace(id, step, nonce, wasThorough, at), nowMs])
    if (!receipt) return { id, is: now > endMs + lagMs && wasThorough ? 'expired' : 'unseen' }
    const reason = refusalOf(receipt)
    return { id, is: 'landed', ok: reason === undefined, blockNumber: -1, depth: 1, receipt, ...(reason !== undefined && { reason }) }
  }

  return async (open: readonly OpenAttempt<string, Sequence>[], at: At): Promise<PollResult<string, ClockOffset>> => {
    const traced = open.flatMap(({ id, step, sequence }) => (isTracedStep(step) ? [{ id, step, sequence }] : []))
    updates.watch(traced.map(({ step }) => step))
    const nowMs = clock.sync(at)
    const statuses: AttemptStatus[] = []
    const failures: unknown[] = []
    const beganAtMs = steadyMs()
    lookedAtMs = new Map(traced.map(({ id }) => [id, lookedAtMs.get(id) ?? beganAtMs]))
    let [asked, skipped] = [0, 0]
    // One after another, so that what is found out of one stays, and none begins that the rate limit would cut off. The one that was not
    // looked at for longest comes first.
    for (const { id, step, sequence } of traced.toSorted((one, other) => lookedAt(one) - lookedAt(other))) {
      const weight = weightOf(step)
      if (weight > 0) {
        if (asked === maxAttempts) continue
        if (!limiter.hasRoom(weight) && (skipped > 0 || !takeKeptRoom(id, weight))) {
          skipped += 1
          continue
        }
        asked += 1
      }
      lookedAtMs.set(id, steadyMs())
      await observe(id, step, sequence, nowMs, at).then(
        (status) => statuses.push(status),
        (error: unknown) => failures.push(error),
      )
      at.signal.throwIfAborted()
    }
    if (skipped === 0 || keptRoomAtMs >= beganAtMs) limiter.keepRoom(0)
    await nowMs
    if (statuses.length === 0 && failures.length > 0) throw failures[0]
    return { statuses, synced: new Map() }
  }
}

/** At most, of the rate limit. */
function weightOf({ trace }: TracedStep): number {
  if (trace.of === 'nothing') return 0
  if (trace.of === 'orders') return trace.cloids.length * orderStatusWeight + longListWeight
  return trace.of === 'cancels' ? trace.orders.length * orderStatusWeight : longListWeight
}

const ledgerUpdates = array(
  object({
    hash: text,
    delta: object(
      { type: text },
      { usdc: decimal, toPerp: flag, nonce: union(integer, nothing), token: text, operation: text, amount: decimal, fee: anything },
    ),
  }),
)
type LedgerDelta = Infer<typeof ledgerUpdates>[number]['delta']
const ledgerShape = shape(ledgerUpdates)
const leverageShape = shape(object({ leverage: object({ type: text, value: integer }) }))

/** How far the clock of the ledger may be behind the one that nonces are made by. */
const clockMarginMs = 5_000
const maxClaims = 1000
/** How many orders of an action are queried first. Each query counts against the rate limit. */
const firstQueries = 3
const success: Receipt = { statuses: ['success'] }

/** Searches the exchange for the trace of an action. Undefined where there is none, or too little to know the outcome. */
function createTraceFinder({ queryInfo, clock, used, moves }: Pick<PollParts, 'queryInfo' | 'clock' | 'used' | 'moves'>) {
  /** Entries of the ledger by the attempt that they are the trace of. Two equal actions must not claim the same entry. */
  const claims = new Map<string, string>()

  function claim(hash: string, id: string): void {
    claims.set(hash, id)
    for (const [oldest] of claims) if (claims.size > maxClaims) claims.delete(oldest)
  }

  const statusesOf = (user: string, ids: readonly (string | number)[], at: At) =>
    Promise.all(ids.map((id) => readOrderStatus(queryInfo, user, id, at)))

  /**
   * The exchange carries out an action as a whole: once one of its orders is known for a while, those that are unknown were refused.
   * @param thorough whether to query all orders where the first few are unknown, since perhaps only those were refused
   */
  async function findOrders(user: string, cloids: readonly string[], thorough: boolean, at: At): Promise<Receipt | undefined> {
    const queriedAtMs = clock.nowMs()
    const first = await statusesOf(user, cloids.slice(0, firstQueries), at)
    const needsRest = thorough || first.some((each) => each !== undefined)
    const found = needsRest ? [...first, ...(await statusesOf(user, cloids.slice(firstQueries), at))] : first
    const placedAtMs = found.flatMap((each) => each?.order.timestamp ?? [])
    if (placedAtMs.length === 0) return undefined
    // The exchange may tell of one order a moment before another.
    if (placedAtMs.length < found.length && queriedAtMs <= Math.min(...placedAtMs) + lagMs) return undefined
    const filled = found.flatMap((each) => (each && needsFills(each) ? [each] : []))
    const fillsOf = filled.length > 0 ? await readOwnFills(queryInfo, user, filled, true, at) : () => undefined
    const own = new Map<WireOrderStatus, readonly WireFill[]>(filled.map((each) => [each, fillsOf(each) ?? []]))
    const isLate = queriedAtMs > Math.max(...placedAtMs) + lagMs
    if (!isLate && [...own.values()].some((each) => each.length === 0)) return undefined
    return {
      statuses: found.map((each) =>
        each ? statusOf(each, own.get(each)) : { error: 'the exchange refused the order, and its answer with the reason was lost' },
      ),
    }
  }

  /** Done once none of the orders is open any more, whatever ended them. */
  async function findCancels(user: string, ids: readonly (string | number)[], at: At): Promise<Receipt | undefined> {
    const ended = async (some: typeof ids) => {
      const found = await statusesOf(user, some, at)
      return found.flatMap((each) => (each && !isOpen(progressOf(each)) ? [statusOf(each)] : []))
    }
    const first = await ended(ids.slice(0, 1))
    if (first.length === 0) return undefined
    const statuses = [...first, ...(await ended(ids.slice(1)))]
    return statuses.length === ids.length ? { statuses } : undefined
  }

  async function findLeverage(user: string, { coin, isCross, leverage }: Trace & { of: 'leverage' }, at: At): Promise<Receipt | undefined> {
    const { leverage: current } = await queryInfo({ type: 'activeAssetData', user, coin }, leverageShape, at)
    return current.value === leverage && current.type === (isCross ? 'cross' : 'isolated') ? success : undefined
  }

  async function findInLedger(id: string, step: TracedStep, nonce: number, at: At): Promise<Receipt | undefined> {
    const startTime = Math.max(0, nonce - clockMarginMs)
    const entries = await queryInfo({ type: 'userNonFundingLedgerUpdates', user: step.user, startTime }, ledgerShape, at)
    const own = entries.filter(({ delta }) => isTraceOf(step.trace, nonce, delta))
    if (own.some(({ hash }) => claims.get(hash) === id)) return success
    const free = own.filter(({ hash }) => !claims.has(hash))
    const last = free.at(-1)
    // As many are of those whose answers came.
    if (!last || free.length <= moves.countSince(startTime, step)) return undefined
    claim(last.hash, id)
    return success
  }

  return async (id: string, step: TracedStep, nonce: number, thorough: boolean, at: At): Promise<Receipt | undefined> => {
    const { user, trace } = step
    if (trace.of === 'orders') return findOrders(user, trace.cloids, thorough, at)
    if (trace.of === 'cancels') return findCancels(user, trace.orders, at)
    if (trace.of === 'leverage') return findLeverage(user, trace, at)
    if (trace.of === 'nothing') return undefined
    // Only the entry of a withdrawal has the nonce. An entry without one may be of another action that is the same, so that it counts only
    // once the exchange is known to have used the nonce, or the action has expired.
    const mayExist = trace.of === 'withdraw' || thorough || used.has(nonce)
    return mayExist ? findInLedger(id, step, nonce, at) : undefined
  }
}

function statusOf(order: WireOrderStatus, own?: readonly WireFill[]): ActionStatus {
  const progress = progressOf(order, own)
  return progress.state === 'REJECTED' ? { error: order.status } : { found: { oid: order.order.oid, ...progress } }
}

function isTraceOf(trace: Trace, nonce: number, delta: LedgerDelta): boolean {
  if (trace.of === 'withdraw') return delta.type === 'withdraw' && delta.nonce === nonce && isWithdrawn(delta, trace.amount)
  if (trace.of === 'usdClassTransfer')
    return delta.type === 'accountClassTransfer' && delta.toPerp === trace.toPerp && isAmount(delta.usdc, trace.amount)
  if (trace.of !== 'borrowLend' || delta.type !== 'borrowLend') return false
  const isSameMove = delta.operation === trace.operation && delta.token === trace.token
  return isSameMove && (trace.amount === null || isAmount(delta.amount, trace.amount))
}

/** The ledger has what left, and what the exchange kept of the amount. The journal of an older version does not have the amount. */
function isWithdrawn({ usdc, fee }: LedgerDelta, expected: string | undefined): boolean {
  if (usdc === undefined || expected === undefined || compare(usdc, expected) === 0) return true
  return compare(add(usdc, is(decimal, fee) ? fee : withdrawalFee), expected) === 0
}

const isAmount = (amount: string | undefined, expected: string) => amount !== undefined && compare(amount, expected) === 0
