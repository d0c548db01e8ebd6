import type { At } from 'sluice/plugin'
import { decimal, either, flag, list, nothing, object, shape, text, whole } from './shape.ts'
import type { Of } from './shape.ts'
import type { Ask } from './api.ts'
import type { ExchangeClock } from './api/clock.ts'
import { compare } from './decimal.ts'
import { fills, orderStatus } from './orders/order-answers.ts'
import type { WireFill, WireJudgedOrder } from './orders/order-answers.ts'
import { isWaiting, needsFills, toldOf } from './orders/order-state.ts'
import type { Receipt, Said } from './rail/receipt.ts'
import type { Trace, Traced } from './rail/trace.ts'
import type { UsedNonces } from './rail/used-nonces.ts'

const ledger = list(
  object({
    hash: text,
    delta: object(
      { type: text },
      { usdc: decimal, toPerp: flag, nonce: either(whole, nothing), token: text, operation: text, amount: decimal },
    ),
  }),
)
type Delta = Of<typeof ledger>[number]['delta']
const ledgerShape = shape(ledger)
const leverageShape = shape(object({ leverage: object({ type: text, value: whole }) }))

/** Clocks of what makes nonces and of what writes the ledger differ. */
const clockMarginMs = 5_000
const remembered = 1000
/** What answers questions may lag behind what carries actions out. */
export const lagMs = 10_000
/** Every question for an order weighs on the limit. */
const probed = 3
const done: Receipt = { statuses: ['success'] }

/** Looks for what an action left behind at the exchange; undefined where there is nothing of it, or not enough to tell. */
export function createTraceFinder({ ask, clock, used }: { ask: Ask; clock: ExchangeClock; used: UsedNonces }) {
  /** Entries of the ledger that are of an attempt: two that did the same are not both taken for the first one's. */
  const taken = new Map<string, string>()

  function claim(hash: string, id: string): boolean {
    const owner = taken.get(hash)
    if (owner !== undefined) return owner === id
    taken.set(hash, id)
    for (const [oldest] of taken) if (taken.size > remembered) taken.delete(oldest)
    return true
  }

  async function known(user: string, ids: readonly (string | number)[], at: At): Promise<readonly (WireJudgedOrder | undefined)[]> {
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
    const isTold = (each: WireJudgedOrder | undefined) => own.some(({ oid }) => oid === each?.order.oid)
    if (!filled.every(isTold) && askedMs <= Math.max(...came) + lagMs) return undefined
    return {
      statuses: found.map((each) => (each ? foundOf(each, own) : { error: 'the exchange did not take it, and its words were lost' })),
    }
  }

  /** Of which nothing waits any more, whoever took it away. */
  async function cancels(user: string, ids: readonly (string | number)[], at: At): Promise<Receipt | undefined> {
    const over = async (some: typeof ids) => {
      const found = await known(user, some, at)
      return found.flatMap((each) => (each && !isWaiting(toldOf(each)) ? [foundOf(each)] : []))
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

  return async (id: string, { user, trace }: Traced, nonce: number, thorough: boolean, at: At): Promise<Receipt | undefined> => {
    if (trace.of === 'orders') return orders(user, trace.cloids, thorough, at)
    if (trace.of === 'cancels') return cancels(user, trace.orders, at)
    if (trace.of === 'leverage') return leverage(user, trace, at)
    if (trace.of === 'nothing') return undefined
    // Only a withdrawal is told by its nonce: an entry that is like any other shows nothing of one that never came.
    const mayBe = trace.of === 'withdraw' || thorough || used.has(nonce)
    return mayBe ? inLedger(id, user, nonce, (delta) => isOf(trace, nonce, delta), at) : undefined
  }
}

function foundOf(order: WireJudgedOrder, own?: readonly WireFill[]): Said {
  const told = toldOf(order, own)
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
