import type { At, Look, OpenAttempt, Sighting } from 'sluice/plugin'
import { type Trace, type TracedStep, isTracedStep } from './actions.ts'
import type { QueryInfo, ExchangeClock } from './api.ts'
import { compare } from 'sluice/decimal'
import { type UsedNonces, nonceLivesMs, type Sequence, type Synced } from './nonces.ts'
import type { OrderUpdates } from './order-updates.ts'
import { fills, orderStatus, type WireFill, type WireOrderStatus, isWaiting, needsFills, progressOf } from './orders.ts'
import { type Receipt, type ActionStatus, refusalOf } from './send.ts'
import { decimal, union, flag, array, nothing, object, shape, text, integer, type Infer } from './shape.ts'

const ledger = array(
  object({
    hash: text,
    delta: object(
      { type: text },
      { usdc: decimal, toPerp: flag, nonce: union(integer, nothing), token: text, operation: text, amount: decimal },
    ),
  }),
)
type Delta = Infer<typeof ledger>[number]['delta']
const ledgerShape = shape(ledger)
const leverageShape = shape(object({ leverage: object({ type: text, value: integer }) }))

/** Clocks of what makes nonces and of what writes the ledger differ. */
const clockMarginMs = 5_000
const remembered = 1000
/** What answers questions may lag behind what carries actions out. */
const lagMs = 10_000
/** Every question for an order weighs on the limit. */
const probed = 3
const done: Receipt = { statuses: ['success'] }

/** Looks for what an action left behind at the exchange; undefined where there is nothing of it, or not enough to tell. */
function createTraceFinder({ ask, clock, used }: { ask: QueryInfo; clock: ExchangeClock; used: UsedNonces }) {
  /** Entries of the ledger that are of an attempt: two that did the same are not both taken for the first one's. */
  const taken = new Map<string, string>()

  function claim(hash: string, id: string): boolean {
    const owner = taken.get(hash)
    if (owner !== undefined) return owner === id
    taken.set(hash, id)
    for (const [oldest] of taken) if (taken.size > remembered) taken.delete(oldest)
    return true
  }

  async function known(user: string, ids: readonly (string | number)[], at: At): Promise<readonly (WireOrderStatus | undefined)[]> {
    const answers = await Promise.all(ids.map((oid) => ask({ type: 'orderStatus', user, oid }, orderStatus, at)))
    return answers.map((answer) => (answer.status === 'order' ? answer.order : undefined))
  }

  /**
   * Actions are carried out whole: one order that is known for a while shows that those that are not were refused.
   * @param thorough asks for all of them where the first few are not known: they alone may have been refused without a trace
   */
  async function orders(user: string, cloids: readonly string[], thorough: boolean, at: At): Promise<Receipt | undefined> {
    const askedMs = clock.nowMs()
    const probes = await known(user, cloids.slice(0, probed), at)
    const isKnown = probes.some((each) => each !== undefined)
    const found = isKnown || thorough ? [...probes, ...(await known(user, cloids.slice(probed), at))] : probes
    const came = found.flatMap((each) => each?.order.timestamp ?? [])
    if (came.length === 0) return undefined
    // One may be told of a moment before another.
    if (came.length < found.length && askedMs <= Math.min(...came) + lagMs) return undefined
    const filled = found.filter((each) => each !== undefined && needsFills(each))
    const own = filled.length > 0 ? await ask({ type: 'userFills', user }, fills, at) : []
    const isTold = (each: WireOrderStatus | undefined) => own.some(({ oid }) => oid === each?.order.oid)
    if (!filled.every(isTold) && askedMs <= Math.max(...came) + lagMs) return undefined
    return {
      statuses: found.map((each) => (each ? foundOf(each, own) : { error: 'the exchange did not take it, and its words were lost' })),
    }
  }

  /** Of which nothing waits any more, whoever took it away. */
  async function cancels(user: string, ids: readonly (string | number)[], at: At): Promise<Receipt | undefined> {
    const over = async (some: typeof ids) => {
      const found = await known(user, some, at)
      return found.flatMap((each) => (each && !isWaiting(progressOf(each)) ? [foundOf(each)] : []))
    }
    const first = await over(ids.slice(0, 1))
    if (first.length === 0) return undefined
    const statuses = [...first, ...(await over(ids.slice(1)))]
    return statuses.length === ids.length ? { statuses } : undefined
  }

  async function inLedger(
    id: string,
    user: string,
    sinceMs: number,
    isIt: (delta: Delta) => boolean,
    at: At,
  ): Promise<Receipt | undefined> {
    const startTime = Math.max(0, sinceMs - clockMarginMs)
    const updates = await ask({ type: 'userNonFundingLedgerUpdates', user, startTime }, ledgerShape, at)
    return updates.some(({ hash, delta }) => isIt(delta) && claim(hash, id)) ? done : undefined
  }

  async function leverage(
    user: string,
    { coin, isCross, leverage: value }: Trace & { of: 'leverage' },
    at: At,
  ): Promise<Receipt | undefined> {
    const { leverage: now } = await ask({ type: 'activeAssetData', user, coin }, leverageShape, at)
    return now.value === value && now.type === (isCross ? 'cross' : 'isolated') ? done : undefined
  }

  return async (id: string, { user, trace }: TracedStep, nonce: number, thorough: boolean, at: At): Promise<Receipt | undefined> => {
    if (trace.of === 'orders') return orders(user, trace.cloids, thorough, at)
    if (trace.of === 'cancels') return cancels(user, trace.orders, at)
    if (trace.of === 'leverage') return leverage(user, trace, at)
    if (trace.of === 'nothing') return undefined
    // Only a withdrawal is told by its nonce: an entry that is like any other shows nothing of one that never came.
    const mayBe = trace.of === 'withdraw' || thorough || used.has(nonce)
    return mayBe ? inLedger(id, user, nonce, (delta) => isOf(trace, nonce, delta), at) : undefined
  }
}

function foundOf(order: WireOrderStatus, own?: readonly WireFill[]): ActionStatus {
  const told = progressOf(order, own)
  return told.state === 'REJECTED' ? { error: order.status } : { found: { oid: order.order.oid, ...told } }
}

function isOf(trace: Trace, nonce: number, { type, usdc, toPerp, nonce: theirs, token, operation, amount }: Delta): boolean {
  if (trace.of === 'withdraw') return type === 'withdraw' && theirs === nonce
  if (trace.of === 'usdClassTransfer') return type === 'accountClassTransfer' && toPerp === trace.toPerp && isAmount(usdc, trace.amount)
  if (trace.of !== 'borrowLend') return false
  return (
    type === 'borrowLend' &&
    operation === trace.operation &&
    token === trace.token &&
    (trace.amount === null || isAmount(amount, trace.amount))
  )
}

const isAmount = (seen: string | undefined, meant: string) => seen !== undefined && compare(seen, meant) === 0

/** Orders are asked for one by one, and each question weighs on the limit: so many attempts at a look, the others at the next. */
const mostAttempts = 10

type Attempt = OpenAttempt<string, Sequence>

/** What became of actions whose answer was lost: by what they leave behind, or by the end of their time. */
export function createPoll({ ask, clock, used, news }: { ask: QueryInfo; clock: ExchangeClock; used: UsedNonces; news: OrderUpdates }) {
  const find = createTraceFinder({ ask, clock, used })
  let from = 0

  async function sight(id: string, step: TracedStep, { nonce }: Sequence, nowMs: Promise<number>, at: At): Promise<Sighting> {
    const endMs = step.expiresAfter ?? nonce + nonceLivesMs
    // By a clock that is behind there is another look.
    const wasThorough = clock.nowMs() > endMs
    const [receipt, now] = await Promise.all([find(id, step, nonce, wasThorough, at), nowMs])
    if (receipt) return { id, ...landed(receipt) }
    return now > endMs + lagMs && wasThorough ? { id, is: 'expired' } : { id, is: 'unseen' }
  }

  return async (open: readonly Attempt[], at: At): Promise<Look<string, Synced>> => {
    news.watch(open.flatMap(({ step }) => (isTracedStep(step) ? [step] : [])))
    const start = open.length > mostAttempts ? from % open.length : 0
    from = start + mostAttempts
    const some = [...open.slice(start), ...open.slice(0, start)].slice(0, mostAttempts)
    const nowMs = clock.sync(at)
    const seen = some.map(async ({ id, step, slot }) => (isTracedStep(step) ? [await sight(id, step, slot, nowMs, at)] : []))
    const [sightings] = await Promise.all([Promise.all(seen), nowMs])
    return { sightings: sightings.flat(), synced: new Map() }
  }
}

function landed(receipt: Receipt): Omit<Sighting & { is: 'landed' }, 'id'> {
  const reason = refusalOf(receipt)
  return { is: 'landed', ok: reason === undefined, blockNumber: -1, depth: 1, receipt, ...(reason !== undefined && { reason }) }
}
