import type { BookSet } from '../../api/index.ts'
import type { ActionOutcome, At, BookAction, BookPlan, CLOB, Json, NewOrder, OrderName } from '../../contracts/index.ts'
import type { MaybeAsync } from '../../contracts/plugin.ts'
import { normalize } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { changedMeanwhile, HeldRequest } from '../../limits/approval-check.ts'
import type { ClientOrder } from '../../transactions/book-orders.ts'
import { givesNothing, type Commitment, type Footprint, type PerpetualExposure } from '../../transactions/budgets.ts'
import { wordsOf, type RequestWords } from '../../transactions/entry-terms.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { ConnectorContext } from '../context.ts'
import { atMostLeaves } from '../outcome.ts'
import { tradingOf } from '../../plugins/index.ts'
import { touchedVenue, touchesOfAll, touchesOfOrder } from '../touches.ts'
import { bookExposure, inTurn, type ExposureTurn } from '../perp/exposure.ts'
import { submit, type SigningWallet } from '../wallets.ts'
import { holdOrders, orderGives, sumOf } from './held-orders.ts'
import { marketName } from './markets.ts'
import { lacksFills } from '../../transactions/order-fills.ts'
import { aboutCancels, aboutOrder } from './order-state.ts'
import { pickName, storeEnds, walletOrders } from './wallet-orders.ts'

export interface SubmittedAction {
  readonly submitted: SubmitResult
  /** By the chain, not by the exchange's own rail. */
  readonly isOnChain: boolean
  /** If the exchange responds at once. */
  readonly outcome?: ActionOutcome
}
export type ActionResult = SubmittedAction | SluiceError
export type ActionResults = ReadonlyMap<number, ActionResult>

/** Plans of one request that are submitted at a time: the wallet's queue also serves other requests. */
const maxConcurrent = 8

/**
 * Submits actions by the plans that cover them: one submission for each plan, those that only cancel first. If a submission fails, the
 * actions of its plan fail. A TIMEOUT of the last one fails a request with an Idempotency-Key, because it is unknown whether its response
 * is journaled, and the response must not differ when the request is repeated.
 * @param actions by the keys that the results have
 * @param answer makes the response. It is journaled under the Idempotency-Key with the last submission, when all other results are known
 * @param beforeLast collects what else the response needs
 */
export async function submitActions(
  type: BookSet,
  actions: ReadonlyMap<number, BookAction>,
  wallet: SigningWallet,
  context: ConnectorContext,
  answer: (results: ActionResults) => object,
  beforeLast: (results: ActionResults) => Promise<void> = async () => {},
): Promise<ActionResults> {
  const submitAll = (turn?: ExposureTurn) =>
    submitInTurn(type, actions, wallet, { ...context, signal: context.signal }, { answer, beforeLast, turn })
  return type === 'PERP_CLOB' && [...actions.values()].some(mayOpen) ? inTurn(wallet.address, context, submitAll) : submitAll()
}

const mayOpen = (action: BookAction): boolean => action.do === 'create' && action.order.reduceOnly !== true

async function catchError<T>(work: () => Promise<T>): Promise<T | SluiceError> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
}

interface ActionAnswers {
  readonly answer: (results: ActionResults) => object
  readonly beforeLast: (results: ActionResults) => Promise<void>
  readonly turn: ExposureTurn | undefined
}

async function submitInTurn(
  type: BookSet,
  actions: ReadonlyMap<number, BookAction>,
  wallet: SigningWallet,
  context: ConnectorContext,
  { answer, beforeLast, turn }: ActionAnswers,
): Promise<ActionResults> {
  const { venue, signal } = context
  const book = tradingOf(type, venue)
  const { commitments, tooFar } = await holdOrders(type, actions, wallet.address, context)
  const held = new Map([...actions].filter(([key]) => !tooFar.has(key)))
  // What only cancels or reduces goes through, whatever cannot be read.
  const exposure = turn && (await catchError(() => bookExposure(turn, held.values(), wallet.address, context)))
  if (exposure instanceof SluiceError) for (const [key, action] of held) if (mayOpen(action)) tooFar.set(key, exposure)
  const allowed = new Map([...held].filter(([key]) => !tooFar.has(key)))
  const { plans, refused } = await planActions(book, wallet.address, allowed, { signal })
  const results = new Map<number, ActionResult>([...tooFar, ...refused])
  lookForFills(type, allowed, wallet, context)
  const planned = { actions, commitments, exposure: exposure instanceof SluiceError ? undefined : exposure }
  // A request that has to wait for a second person waits as a whole.
  if (plans.length > 1 && context.services.approvals.concerns(context.caller.id)) {
    const requests = plans.map((plan) => requestOf({ type, plan, planned, wallet, context }).request)
    const all = { ...sumOf([...commitments.values()]), ...(planned.exposure && { perpetual: planned.exposure }) }
    await context.services.approvals.require(requests, all, signal)
  }

  async function submitOne(plan: IndexedPlan, isLast: boolean): Promise<void> {
    const record = (submitted: SubmitResult) => {
      const outcomes = immediateOutcomes(book, plan, submitted)
      for (const [position, key] of plan.covers.entries()) {
        const outcome = outcomes?.[position]
        results.set(key, { submitted, isOnChain: !('via' in plan.plan), ...(outcome && { outcome }) })
      }
      return outcomes
    }
    const finalAnswer = (submitted: SubmitResult) => {
      record(submitted)
      return answer(results)
    }
    try {
      const outcomes = record(await submitPlan({ type, plan, planned, wallet, context, answer: isLast ? finalAnswer : undefined }))
      // Once the action is final in the journal.
      if (!outcomes) return
      readEnds(type, plan, outcomes, actions, wallet, context)
      wantFills(type, plan, outcomes, actions, wallet, context)
    } catch (error) {
      // Of several plans others may be signed by now: what has to wait was asked for before the first of them.
      const waits = error instanceof HeldRequest && (plans.length === 1 || context.approval?.is === 'preview')
      if (!(error instanceof SluiceError) || waits || (isLast && context.keyed && error.name === 'TIMEOUT')) throw error
      const refusal = error instanceof HeldRequest ? changedMeanwhile() : error
      for (const key of plan.covers) results.set(key, refusal)
    }
  }

  const onlyCancels = ({ covers }: IndexedPlan) => covers.every((key) => actions.get(key)?.do === 'cancel')
  const [cancels, others] = [plans.filter(onlyCancels), plans.filter((each) => !onlyCancels(each))]
  const last = others.pop() ?? cancels.pop()
  for (const some of [cancels, others]) await runConcurrently(some, (each) => submitOne(each, false), signal)
  for (const key of actions.keys()) if (!results.has(key) && !last?.covers.includes(key)) results.set(key, notStarted())
  if (last) {
    await beforeLast(results)
    await submitOne(last, true)
  }
  return results
}

/** Starts nothing more once the signal is aborted. */
async function runConcurrently<T>(work: T[], run: (each: T) => Promise<void>, signal: AbortSignal): Promise<void> {
  const worker = async () => {
    for (let each = work.shift(); each !== undefined && !signal.aborted; each = work.shift()) await run(each)
  }
  await Promise.all(Array.from({ length: maxConcurrent }, worker))
}

const notStarted = () =>
  new SluiceError('TIMEOUT', 'The request timed out before this entry was started: nothing was sent for it. Try again.')

/** @throws SluiceError the action's error */
export function requireSubmitted(result: ActionResult | undefined): SubmittedAction {
  if (result instanceof SluiceError) throw result
  if (!result) throw new Error('An action was neither submitted nor refused.')
  return result
}

/** A plan with the keys of the actions that it covers. */
interface IndexedPlan {
  readonly covers: readonly number[]
  readonly plan: BookPlan
}

interface PlanningResult {
  readonly plans: readonly IndexedPlan[]
  /** Actions without a plan. */
  readonly refused: ReadonlyMap<number, SluiceError>
}

/**
 * The exchange's plans for actions. If it refuses a list, it is asked for each half of it, so that one impossible action does not stop the
 * others. An exchange that is unavailable refuses all of them: something of the same request may have been sent already.
 */
async function planActions(
  book: Pick<CLOB, 'act'>,
  owner: string,
  actions: ReadonlyMap<number, BookAction>,
  at: At,
): Promise<PlanningResult> {
  const keys = [...actions.keys()]
  if (keys.length === 0) return { plans: [], refused: new Map() }
  try {
    const plans = await book.act(owner, [...actions.values()], at)
    return { plans: plans.map(({ covers, plan }) => ({ plan, covers: covers.flatMap((each) => keys[each] ?? []) })), refused: new Map() }
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    if (keys.length === 1 || !isAboutAnAction(error)) return { plans: [], refused: new Map(keys.map((key) => [key, error])) }
    const half = Math.ceil(keys.length / 2)
    const first = await planActions(book, owner, new Map([...actions].slice(0, half)), at)
    const second = await planActions(book, owner, new Map([...actions].slice(half)), at)
    return { plans: [...first.plans, ...second.plans], refused: new Map([...first.refused, ...second.refused]) }
  }
}

/** Not an unavailable exchange, a rate limit or a defect: those would also fail for a part of the list. */
const isAboutAnAction = ({ http, name }: SluiceError): boolean => (http < 500 || name === 'UNSUPPORTED') && name !== 'RATE_LIMIT'

interface PlannedActions {
  readonly actions: ReadonlyMap<number, BookAction>
  readonly commitments: ReadonlyMap<number, Commitment>
  /** Of all of them together. */
  readonly exposure: PerpetualExposure | undefined
}

interface PlanRequest {
  readonly type: BookSet
  readonly plan: IndexedPlan
  readonly planned: PlannedActions
  readonly wallet: SigningWallet
  readonly context: ConnectorContext
  /** Absent: the response is not journaled under the Idempotency-Key with this submission. */
  readonly answer?: ((submitted: SubmitResult) => object) | undefined
}

async function submitPlan(of: PlanRequest): Promise<SubmitResult> {
  const { request, gives } = requestOf(of)
  return submit(request, of.context, atMostLeaves(gives))
}

/** The request of a plan, and what it gives at most. */
function requestOf({ type, plan: { covers, plan }, planned: { actions, commitments, exposure }, wallet, context, answer }: PlanRequest) {
  const { keyed, words, ...rest } = context
  const clientOrders: ClientOrder[] = []
  const cancels: (BookAction & { do: 'cancel' })[] = []
  for (const [index, key] of covers.entries()) {
    const action = actions.get(key)
    if (action?.do === 'cancel') cancels.push(action)
    if (action?.do !== 'create') continue
    const { market, order } = action
    clientOrders.push({ clientOrderId: order.clientOrderId, type, market: marketName(market), index, about: aboutOrder(order, keyed?.tag) })
  }
  const created = covers.flatMap((key) => actions.get(key) ?? []).filter((action) => action.do === 'create')
  const { network, venue } = context
  const [first, ...others] = created.filter(mayOpen)
  const touches = (): Footprint => {
    if (!first) return { action: 'order', connectors: touchedVenue(venue), tokens: [] }
    const touchesOf = (each: typeof first) => touchesOfOrder(type, each, venue, network)
    return touchesOfAll([touchesOf(first), ...others.map(touchesOf)])
  }
  const ofOrders = covers.flatMap((key, index): [number, Commitment][] => {
    const commitment = commitments.get(key)
    return commitment ? [[index, commitment]] : []
  })
  const commitment = {
    ...sumOf(ofOrders.map(([, each]) => each)),
    ...(covers.length > 1 && { parts: new Map(ofOrders) }),
    ...(exposure && first && { perpetual: exposure }),
  }
  const request = {
    ...rest,
    ...wallet,
    ...(words && { words: covers.length === actions.size ? words : wordsOfPart(words, covers, actions) }),
    plan,
    touches,
    // Orders send no native coin.
    scope: { contracts: context.venue.contracts, valueRaw: 0n },
    kind: clientOrders.length > 0 ? ('order' as const) : ('order-cancel' as const),
    reduces: created.every(({ order }) => order.reduceOnly === true),
    about: cancels.length > 0 ? aboutCancels(type, cancels) : null,
    ...(clientOrders.length > 0 && { clientOrders }),
    commitment: clientOrders.length > 0 ? commitment : givesNothing,
    ...(answer && keyed && { keyed }),
    answer: answer ?? (() => ({})),
  }
  return { request, gives: created.flatMap((each) => orderGives(each, context)) }
}

/** Of a request that takes several transactions each has its own part. */
function wordsOfPart({ path, fields }: RequestWords, covers: readonly number[], actions: ReadonlyMap<number, BookAction>): RequestWords {
  const { create: _create, cancel: _cancel, ...shared } = fields
  const own = covers.flatMap((key) => actions.get(key) ?? [])
  const part = own.map((action) => ({ do: action.do, market: marketName(action.market), clientOrderId: action.order.clientOrderId }))
  return wordsOf(path, { ...shared, part })
}

/** What was taken of the orders before counts in the limit that these are held to. */
function lookForFills(
  type: BookSet,
  actions: ReadonlyMap<number, BookAction>,
  { address }: SigningWallet,
  { network, venue: { connector }, services, caller }: ConnectorContext,
): void {
  if (type === 'PERP_CLOB' || services.limitsOn(caller.id, network)?.maxDailyLoss === undefined) return
  const { chain, network: on } = network
  const markets = new Set([...actions.values()].flatMap((action) => (action.do === 'create' ? [marketName(action.market)] : [])))
  for (const market of markets) services.orderFills.look({ chain, network: on, connector, address, type, market })
}

/** Of orders that were filled at once. */
function wantFills(
  type: BookSet,
  { covers }: IndexedPlan,
  outcomes: readonly ActionOutcome[],
  actions: ReadonlyMap<number, BookAction>,
  { address }: SigningWallet,
  { network: { chain, network }, venue: { connector }, services }: ConnectorContext,
): void {
  for (const [index, key] of covers.entries()) {
    const [action, filledAmount = '0'] = [actions.get(key), outcomes[index]?.filledAmount]
    if (action?.do !== 'create' || !lacksFills(filledAmount, [])) continue
    const { clientOrderId } = action.order
    services.orderFills.want(
      { chain, network, connector, address, type, market: marketName(action.market) },
      { clientOrderId, filledAmount },
    )
  }
}

const endsTimeoutMs = 10_000

/**
 * Where a client has limits, asks how much was filled of orders that have ended, so that the rest counts no more, and stores which were refused or filled at once. Nobody waits for it: what is not known then is
 * stored when orders are listed.
 */
function readEnds(
  type: BookSet,
  { covers }: IndexedPlan,
  outcomes: readonly ActionOutcome[],
  actions: ReadonlyMap<number, BookAction>,
  { address }: SigningWallet,
  context: ConnectorContext,
): void {
  const { services, caller, network, venue } = context
  if (!venue.builtIn || services.limitsOn(caller.id, network) === undefined) return
  const asked: OrderName[] = []
  const answered: string[] = []
  for (const [index, key] of covers.entries()) {
    const [action, state] = [actions.get(key), outcomes[index]?.state]
    if (action && state === 'CANCELED') asked.push(action.order)
    else if (action?.do === 'create' && (state === 'REJECTED' || state === 'FILLED')) answered.push(action.order.clientOrderId)
  }
  if (asked.length + answered.length === 0) return
  const orders = walletOrders(type, address, { network, venue, services, signal: AbortSignal.timeout(endsTimeoutMs) })
  storeEnds(orders, { asked: asked.map(pickName), answered }).catch(() => {})
}

type Book = Pick<MaybeAsync<CLOB>, 'outcome'>

/** The outcomes of a plan's actions, if the exchange responded at once: one with a rail of its own, whose connector runs in this process. */
function immediateOutcomes(book: Book, { plan, covers }: IndexedPlan, { landed }: SubmitResult): readonly ActionOutcome[] | undefined {
  if (!landed) return undefined
  if (landed.ok) {
    const outcomes = outcomesAtOnce(book, landed.receipt, plan.memo)
    // Outcomes and actions cannot be matched when their numbers differ.
    return outcomes?.length === covers.length ? outcomes : undefined
  }
  const { reason } = landed
  return covers.map(() => ({ state: 'REJECTED', ...(reason !== undefined && { reason }) }))
}

function outcomesAtOnce(book: Book, receipt: Json, memo: Json): readonly ActionOutcome[] | undefined {
  try {
    const outcomes = book.outcome(receipt, memo)
    return outcomes instanceof Promise ? undefined : outcomes
  } catch {
    // The connector has failed, which was logged.
    return undefined
  }
}

/** Hash and nonce to follow a transaction by. Signed actions are followed by the ids of their orders. */
const transactionOf = ({ submitted: { txHash, nonce }, isOnChain }: SubmittedAction) => (isOnChain ? { txHash, nonce } : {})

/** The response to a request that places an order. */
export function showPlaced({ clientOrderId, orderType, price }: NewOrder, action: SubmittedAction) {
  const { orderId, state = 'PENDING_OPEN' as const, filledAmount, averagePrice, reason } = action.outcome ?? {}
  return {
    ...(orderId !== undefined && { orderId }),
    clientOrderId,
    state,
    ...(filledAmount !== undefined && { filledAmount: normalize(filledAmount) }),
    ...(averagePrice !== undefined && { averagePrice: normalize(averagePrice) }),
    ...(orderType === 'MARKET' && { limitPrice: price }),
    ...(reason !== undefined && { reason }),
    ...transactionOf(action),
  }
}

/** The response to a request that cancels an order. */
export function showCancel(name: OrderName, action: SubmittedAction) {
  const { state = 'PENDING_CANCEL' as const, filledAmount, reason } = action.outcome ?? {}
  return {
    ...name,
    state,
    ...(filledAmount !== undefined && { filledAmount: normalize(filledAmount) }),
    ...(reason !== undefined && { reason }),
    ...transactionOf(action),
  }
}
