import type { At, PollResult, OpenAttempt, AttemptStatus } from 'sluice/plugin'
import { isTracedStep, type Trace, type TracedStep } from './actions.ts'
import type { ExchangeClock, QueryInfo } from './api.ts'
import { compare } from 'sluice/decimal'
import { nonceLivesMs, type ClockOffset, type NonceSet, type Sequence } from './nonces.ts'
import type { OrderUpdates } from './order-updates.ts'
import { fills, isOpen, needsFills, progressOf, readOrderStatus, type WireFill, type WireOrderStatus } from './orders.ts'
import { refusalOf, type ActionStatus, type Receipt } from './send.ts'
import { array, decimal, flag, integer, nothing, object, shape, text, union, type Infer } from './shape.ts'

/** Orders are queried one by one, and each query counts against the rate limit: at most so many attempts in a poll, the others in the next. */
const maxAttempts = 10
/** How far what the exchange tells may lag behind what it has carried out. */
const lagMs = 10_000

interface PollParts {
  queryInfo: QueryInfo
  clock: ExchangeClock
  /** Nonces that the exchange says were used, by an action whose answer was lost. */
  used: NonceSet
  updates: OrderUpdates
}

/** Finds the outcome of actions whose answer was lost: by the trace that they left behind, or by their expiry. */
export function createPoll({ queryInfo, clock, used, updates }: PollParts) {
  const findTrace = createTraceFinder({ queryInfo, clock, used })
  let from = 0

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
    updates.watch(open.flatMap(({ step }) => (isTracedStep(step) ? [step] : [])))
    const start = open.length > maxAttempts ? from % open.length : 0
    from = start + maxAttempts
    const some = [...open.slice(start), ...open.slice(0, start)].slice(0, maxAttempts)
    const nowMs = clock.sync(at)
    const observations = some.map(async ({ id, step, sequence }) =>
      isTracedStep(step) ? [await observe(id, step, sequence, nowMs, at)] : [],
    )
    const [statuses] = await Promise.all([Promise.all(observations), nowMs])
    return { statuses: statuses.flat(), synced: new Map() }
  }
}

const ledgerUpdates = array(
  object({
    hash: text,
    delta: object(
      { type: text },
      { usdc: decimal, toPerp: flag, nonce: union(integer, nothing), token: text, operation: text, amount: decimal },
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
function createTraceFinder({ queryInfo, clock, used }: Pick<PollParts, 'queryInfo' | 'clock' | 'used'>) {
  /** Entries of the ledger by the attempt that they are the trace of. Two equal actions must not claim the same entry. */
  const claims = new Map<string, string>()

  function claim(hash: string, id: string): boolean {
    const claimedBy = claims.get(hash)
    if (claimedBy !== undefined) return claimedBy === id
    claims.set(hash, id)
    for (const [oldest] of claims) if (claims.size > maxClaims) claims.delete(oldest)
    return true
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
    const filled = found.filter((each) => each !== undefined && needsFills(each))
    const own = filled.length > 0 ? await queryInfo({ type: 'userFills', user }, fills, at) : []
    const hasFills = (each: WireOrderStatus | undefined) => own.some(({ oid }) => oid === each?.order.oid)
    if (!filled.every(hasFills) && queriedAtMs <= Math.max(...placedAtMs) + lagMs) return undefined
    return {
      statuses: found.map((each) =>
        each ? statusOf(each, own) : { error: 'the exchange refused the order, and its answer with the reason was lost' },
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

  async function findInLedger(id: string, user: string, trace: Trace, nonce: number, at: At): Promise<Receipt | undefined> {
    const request = { type: 'userNonFundingLedgerUpdates', user, startTime: Math.max(0, nonce - clockMarginMs) }
    const entries = await queryInfo(request, ledgerShape, at)
    return entries.some(({ hash, delta }) => isTraceOf(trace, nonce, delta) && claim(hash, id)) ? success : undefined
  }

  return async (id: string, { user, trace }: TracedStep, nonce: number, thorough: boolean, at: At): Promise<Receipt | undefined> => {
    if (trace.of === 'orders') return findOrders(user, trace.cloids, thorough, at)
    if (trace.of === 'cancels') return findCancels(user, trace.orders, at)
    if (trace.of === 'leverage') return findLeverage(user, trace, at)
    if (trace.of === 'nothing') return undefined
    // Only the entry of a withdrawal has the nonce. An entry without one may be of another action that is the same, so that it counts only
    // once the exchange is known to have used the nonce, or the action has expired.
    const mayExist = trace.of === 'withdraw' || thorough || used.has(nonce)
    return mayExist ? findInLedger(id, user, trace, nonce, at) : undefined
  }
}

function statusOf(order: WireOrderStatus, own?: readonly WireFill[]): ActionStatus {
  const progress = progressOf(order, own)
  return progress.state === 'REJECTED' ? { error: order.status } : { found: { oid: order.order.oid, ...progress } }
}

function isTraceOf(trace: Trace, nonce: number, delta: LedgerDelta): boolean {
  if (trace.of === 'withdraw') return delta.type === 'withdraw' && delta.nonce === nonce
  if (trace.of === 'usdClassTransfer')
    return delta.type === 'accountClassTransfer' && delta.toPerp === trace.toPerp && isAmount(delta.usdc, trace.amount)
  if (trace.of !== 'borrowLend' || delta.type !== 'borrowLend') return false
  const isSameMove = delta.operation === trace.operation && delta.token === trace.token
  return isSameMove && (trace.amount === null || isAmount(delta.amount, trace.amount))
}

const isAmount = (amount: string | undefined, expected: string) => amount !== undefined && compare(amount, expected) === 0
