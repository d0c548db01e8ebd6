import { SluiceError, type BookSet } from '../../api/index.ts'
import type { ActionOutcome, BookAction, At, BookPlan, CLOB, Json, NewOrder, OrderName } from '../../contracts/index.ts'
import { normalize } from '../../decimal.ts'
import type { ClientOrder } from '../../transactions/book-orders.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { RequestContext, TargetContext, Services } from '../context.ts'
import { explainRefusal, nameListedTokens } from '../explain-errors.ts'
import type { readWallet } from '../wallets.ts'
import { bookOf, marketName } from './markets.ts'
import { aboutCancels, aboutOrder } from './order-state.ts'

export type ConnectorContext = RequestContext & { services: Services } & TargetContext<'connector'>
export type SigningWallet = ReturnType<typeof readWallet>

/** What an action came to: where it was sent, and what the exchange said at once, if it did. */
export interface SubmittedAction {
  readonly submitted: SubmitResult
  /** By the chain rather than by the exchange's own rail. */
  readonly onChain: boolean
  readonly outcome?: ActionOutcome
}
export type ActionResult = SubmittedAction | SluiceError
export type ActionResults = ReadonlyMap<number, ActionResult>

/** So many plans of a request are submitted at a time: a wallet's queue is for its other requests too. */
const atOnce = 8

/**
 * Has actions carried out, each by the plan that covers it. Plans are submitted by themselves, those that only cancel first: what fails
 * fails for the actions of its plan only. Where the time ends before it is known whether the answer of a request with a key is journaled, that
 * is the request's: what it is answered must not differ from what it would be told again.
 * @param actions by any number that tells them apart
 * @param answer what the request answers: journaled under its Idempotency-Key with the last submission, when all others have come to something
 * @param beforeLast finds out what the answer needs besides
 */
export async function submitActions(
  type: BookSet,
  actions: ReadonlyMap<number, BookAction>,
  wallet: SigningWallet,
  context: ConnectorContext,
  answer: (results: ActionResults) => object,
  beforeLast: (results: ActionResults) => Promise<void> = async () => {},
): Promise<ActionResults> {
  const { venue, signal } = context
  const book = bookOf(type, venue)
  const { planned, refused } = await planActions(book, wallet.address, actions, { signal })
  const results = new Map<number, ActionResult>(refused)

  async function submit(each: IndexedPlan, isLast: boolean): Promise<void> {
    const keep = (submitted: SubmitResult) => {
      const outcomes = immediateOutcomes(book, each, submitted)
      const onChain = !('via' in each.plan)
      for (const [index, place] of each.covers.entries()) {
        const outcome = outcomes?.[index]
        results.set(place, { submitted, onChain, ...(outcome && { outcome }) })
      }
    }
    const answerWith = (submitted: SubmitResult) => {
      keep(submitted)
      return answer(results)
    }
    try {
      keep(await submitPlan(type, each, actions, wallet, context, isLast ? answerWith : undefined))
    } catch (error) {
      if (!(error instanceof SluiceError) || (isLast && context.keyed && error.name === 'TIMEOUT')) throw error
      for (const place of each.covers) results.set(place, error)
    }
  }

  const onlyCancels = ({ covers }: IndexedPlan) => covers.every((place) => actions.get(place)?.do === 'cancel')
  const [cancels, others] = [planned.filter(onlyCancels), planned.filter((each) => !onlyCancels(each))]
  const last = others.pop() ?? cancels.pop()
  for (const some of [cancels, others]) await inTurns(some, (each) => submit(each, false), signal)
  for (const place of actions.keys()) if (!results.has(place) && !last?.covers.includes(place)) results.set(place, notBegun())
  if (last) {
    await beforeLast(results)
    await submit(last, true)
  }
  return results
}

/** What is left over when the time is over is not begun. */
async function inTurns<T>(work: T[], run: (each: T) => Promise<void>, signal: AbortSignal): Promise<void> {
  const worker = async () => {
    for (let each = work.shift(); each !== undefined && !signal.aborted; each = work.shift()) await run(each)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const notBegun = () => new SluiceError('TIMEOUT', 'The time for this request ran out before this was begun: nothing was sent. Try again.')

/** @throws SluiceError what it came to, where it came to nothing */
export function requireSubmitted(result: ActionResult | undefined): SubmittedAction {
  if (result instanceof SluiceError) throw result
  if (!result) throw new Error('An action was neither carried out nor refused.')
  return result
}

/** A plan, and which of the actions it carries out, by their place in the whole list. */
interface IndexedPlan {
  readonly covers: readonly number[]
  readonly plan: BookPlan
}

/** What is to be done of a list of actions, and what of it cannot be. */
interface PlanningResult {
  readonly planned: readonly IndexedPlan[]
  readonly refused: ReadonlyMap<number, SluiceError>
}

/**
 * The exchange's plans for a list of actions. Where it refuses the list it is asked again for halves of it, so that what cannot be done
 * keeps nothing else from being done. One that is away refuses all of them: of the same request something may have been sent already.
 */
async function planActions(
  book: Pick<CLOB, 'act'>,
  owner: string,
  actions: ReadonlyMap<number, BookAction>,
  at: At,
): Promise<PlanningResult> {
  const places = [...actions.keys()]
  if (places.length === 0) return { planned: [], refused: new Map() }
  try {
    const plans = await book.act(owner, [...actions.values()], at)
    return {
      planned: plans.map(({ covers, plan }) => ({ plan, covers: covers.flatMap((each) => places[each] ?? []) })),
      refused: new Map(),
    }
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    if (places.length === 1 || !isAboutAnAction(error)) return { planned: [], refused: new Map(places.map((place) => [place, error])) }
    const half = Math.ceil(places.length / 2)
    const first = await planActions(book, owner, new Map([...actions].slice(0, half)), at)
    const second = await planActions(book, owner, new Map([...actions].slice(half)), at)
    return { planned: [...first.planned, ...second.planned], refused: new Map([...first.refused, ...second.refused]) }
  }
}

/** An exchange that is away, or a defect, is nothing that asking in parts would change. */
const isAboutAnAction = ({ http, name }: SluiceError): boolean => (http < 500 || name === 'UNSUPPORTED') && name !== 'RATE_LIMIT'

/** @param answer absent: nothing is kept under the request's Idempotency-Key with this one */
async function submitPlan(
  type: BookSet,
  { covers, plan }: IndexedPlan,
  actions: ReadonlyMap<number, BookAction>,
  wallet: SigningWallet,
  context: ConnectorContext,
  answer: ((submitted: SubmitResult) => object) | undefined,
): Promise<SubmitResult> {
  const { network, venue, services, signal, keyed, ...call } = context
  const clientOrders: ClientOrder[] = []
  const cancels: (BookAction & { do: 'cancel' })[] = []
  for (const [index, place] of covers.entries()) {
    const action = actions.get(place)
    if (action?.do === 'cancel') cancels.push(action)
    if (action?.do !== 'create') continue
    const { market, order } = action
    clientOrders.push({ clientOrderId: order.clientOrderId, type, market: marketName(market), index, about: aboutOrder(order, keyed?.tag) })
  }
  const submitted = services.transactions.submit(
    {
      ...call,
      ...wallet,
      network,
      venue,
      plan,
      // Orders send none of the native coin.
      scope: { contracts: venue.contracts, valueRaw: 0n },
      kind: clientOrders.length > 0 ? 'order' : 'order-cancel',
      about: cancels.length > 0 ? aboutCancels(type, cancels) : null,
      ...(clientOrders.length > 0 && { clientOrders }),
      ...(answer && keyed && { keyed }),
      answer: answer ?? (() => ({})),
    },
    signal,
  )
  return explainRefusal(nameListedTokens(submitted, network), venue)
}

type Book = Pick<CLOB, 'outcome'>

/** Nothing where the connector fails, too: its log has the defect, and that something was sent is worth more than what it came to. */
export function readOutcomes(book: Book, receipt: Json, memo: Json): readonly ActionOutcome[] | undefined {
  try {
    return book.outcome(receipt, memo)
  } catch {
    return undefined
  }
}

/** What the exchange said of a plan's actions at once, if it did. */
function immediateOutcomes(book: Book, { plan, covers }: IndexedPlan, { landed }: SubmitResult): readonly ActionOutcome[] | undefined {
  if (!landed) return undefined
  if (landed.ok) {
    const told = readOutcomes(book, landed.receipt, plan.memo)
    // Of more or fewer than it covers nobody can say which is which.
    return told?.length === covers.length ? told : undefined
  }
  const { reason } = landed
  return covers.map(() => ({ state: 'REJECTED', ...(reason !== undefined && { reason }) }))
}

/** Where an action is, for who follows it. Signed actions are known by their orders' ids. */
const whereabouts = ({ submitted: { txHash, nonce }, onChain }: SubmittedAction) => (onChain ? { txHash, nonce } : {})

/** What the request for an order is answered. */
export function showPlaced({ clientOrderId, orderType, price }: NewOrder, done: SubmittedAction) {
  const { orderId, state = 'PENDING_OPEN' as const, filledAmount, averagePrice, reason } = done.outcome ?? {}
  return {
    ...(orderId !== undefined && { orderId }),
    clientOrderId,
    state,
    ...(filledAmount !== undefined && { filledAmount: normalize(filledAmount) }),
    ...(averagePrice !== undefined && { averagePrice: normalize(averagePrice) }),
    ...(orderType === 'MARKET' && { limitPrice: price }),
    ...(reason !== undefined && { reason }),
    ...whereabouts(done),
  }
}

/** What the request to cancel an order is answered. */
export function showCancel(name: OrderName, done: SubmittedAction) {
  const { state = 'PENDING_CANCEL' as const, filledAmount, reason } = done.outcome ?? {}
  return {
    ...name,
    state,
    ...(filledAmount !== undefined && { filledAmount: normalize(filledAmount) }),
    ...(reason !== undefined && { reason }),
    ...whereabouts(done),
  }
}
