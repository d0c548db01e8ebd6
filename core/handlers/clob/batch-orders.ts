import { CLOBBatchOrdersRequest, CLOBMarginBatchOrdersRequest, CLOBPerpBatchOrdersRequest, type BookSet } from '../../api/index.ts'
import type { BookAction, BookOrder, OrderName } from '../../contracts/index.ts'
import { badFields, errorFields, SluiceError, type ErrorName } from '../../base/errors.ts'
import type { ConnectorContext } from '../context.ts'
import { fieldsReader } from '../../config/field-reader.ts'
import { readWallet, type SigningWallet } from '../wallets.ts'
import { marketName, marketsOf, type BookHandlerFor, type Markets } from './markets.ts'
import { hasEnded, showForeign } from './order-state.ts'
import {
  cancelPlacement,
  defaultClientOrderId,
  excludePlacement,
  findRepeatedOrder,
  isPending,
  isUnanswered,
  isUnread,
  mayYetArrive,
  notYetCancellable,
  refusalOf,
  showCancelling,
  showEnded,
  refusedBefore,
  unansweredCancel,
  type Exclusion,
} from './orders.ts'
import { readOrder } from './read-order.ts'
import {
  requireSubmitted,
  showCancel,
  showPlaced,
  submitActions,
  type ActionResult,
  type ActionResults,
  type SubmittedAction,
} from './submit-actions.ts'
import { pickName, readName, unknownOrder, walletOrders, type FoundOrder } from './wallet-orders.ts'

/** Places and cancels many orders. Each entry has its own result: an error in one does not stop the others. */
export const clobBatchOrders: BookHandlerFor<'BatchOrders'> = (type) => async (request, context) => {
  const { create = [], cancel = [] } = request
  if (create.length + cancel.length === 0) throw badFields([{ field: 'create', problem: 'is empty, and so is cancel' }])
  const wallet = readWallet(request, context)
  const markets = await marketsOf(type, context.venue, { signal: context.signal })
  const cancels = await readCancels(type, cancel, markets, wallet, context)
  const creates = await readCreates(type, create, markets, wallet, context)

  // Keys of actions: cancels first, as they are submitted first.
  const createKey = (index: number) => cancels.length + index
  const actions = new Map<number, BookAction>()
  for (const [index, each] of cancels.entries()) if ('action' in each) actions.set(index, each.action)
  for (const [index, each] of creates.entries()) if ('action' in each) actions.set(createKey(index), each.action)

  const refused = new Map<number, RefusedCancel>()
  const answer = (results: ActionResults) => ({
    created: creates.map((each, index) =>
      showEntry(each, results.get(createKey(index)), { clientOrderId: each.clientOrderId }, ({ order }, action) =>
        showPlaced(order, action),
      ),
    ),
    cancelled: cancels.map(
      (each, index) =>
        refused.get(index) ??
        showEntry(each, results.get(index), each.name, ({ order }, action) =>
          each.exclusion === 'impossible' && isUnanswered(action)
            ? { ...each.name, error: errorFields(unansweredCancel()) }
            : showCancel(order, action),
        ),
    ),
  })
  // Before the response is journaled, and again for what the last submission refused.
  const explainNewRefusals = async (results: ActionResults) => {
    const unexplained = new Map([...results].filter(([key]) => !refused.has(key)))
    for (const [key, shown] of await explainRefusedCancels(type, cancels, unexplained, wallet, context)) refused.set(key, shown)
  }
  const results = await submitActions(type, actions, wallet, context, answer, explainNewRefusals)
  requireAny([...creates, ...cancels], results)
  await explainNewRefusals(results)
  return answer(results)
}

/** TIMEOUT comes first: after it, something may have come of its entry all the same. */
const temporaryErrors: readonly ErrorName[] = ['TIMEOUT', 'NETWORK', 'RATE_LIMIT', 'SERVICE_UNINITIALIZED', 'OVERLOADED']

/** @throws SluiceError if every entry failed and one of the errors is temporary: the request may then be repeated with the same key */
function requireAny(entries: readonly object[], results: ActionResults): void {
  const failures = [...results.values()].flatMap((each) => (each instanceof SluiceError ? [each] : []))
  if (failures.length < results.size || entries.some((each) => 'answer' in each)) return
  const temporary = temporaryErrors.flatMap((each) => failures.find(({ name }) => name === each) ?? [])[0]
  if (temporary) throw temporary
}

const readCreate = {
  CLOB: fieldsReader(CLOBBatchOrdersRequest.properties.create.items),
  MARGIN_CLOB: fieldsReader(CLOBMarginBatchOrdersRequest.properties.create.items),
  PERP_CLOB: fieldsReader(CLOBPerpBatchOrdersRequest.properties.create.items),
}

/** As it came: its fields are not checked yet. */
type Entry = Readonly<Record<string, unknown>>

type PlacementResult = NonNullable<Awaited<ReturnType<typeof findRepeatedOrder>>>
type CreateEntry = BatchEntry<BookAction & { do: 'create' }, PlacementResult> & { clientOrderId?: string }

/** @param create the raw entries: each is validated by itself */
async function readCreates(
  type: BookSet,
  create: readonly Entry[],
  markets: Markets,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<readonly CreateEntry[]> {
  const orders = walletOrders(type, wallet.address, context)
  const firstWith = new Map<string, number>()

  async function readOne(raw: Entry, index: number): Promise<CreateEntry> {
    const fields = readCreate[type](raw, 'body')
    const clientOrderId = fields.clientOrderId ?? defaultClientOrderId(context, index)
    const first = firstWith.get(clientOrderId)
    if (first !== undefined) return { error: usedTwice(first), clientOrderId }
    firstWith.set(clientOrderId, index)
    const entry = await catchError(async () => {
      const market = markets.find(fields.market)
      const repeated = await findRepeatedOrder(type, wallet.address, clientOrderId, context)
      if (repeated) return { answer: repeated }
      if (fields.clientOrderId !== undefined && (await orders.isTaken(clientOrderId))) throw usedBefore(clientOrderId)
      return { action: { do: 'create', market, order: await readOrder(type, { ...fields, clientOrderId }, market, context) } as const }
    })
    return { ...entry, clientOrderId }
  }

  const entries: CreateEntry[] = []
  for (const [index, each] of create.entries()) entries.push(await catchError(() => readOne(each, index)))
  return entries
}

const usedTwice = (first: number) =>
  badFields([{ field: 'clientOrderId', problem: `is the same as that of create[${first}]: one of them is enough` }])

/** A plan of many orders is refused as a whole if an id was used before. This check refuses that order alone. */
const usedBefore = (clientOrderId: string) =>
  new SluiceError(
    'IDEMPOTENCY_CONFLICT',
    `This wallet has used the clientOrderId ${clientOrderId} on this exchange before: nothing was sent. GET the orders with that id to see its order.`,
    { details: { clientOrderId } },
  )

const readCancel = fieldsReader(CLOBBatchOrdersRequest.properties.cancel.items)

type CancelResult = ReturnType<typeof showEnded> | NonNullable<Awaited<ReturnType<typeof cancelPlacement>>>
type CancelEntry = BatchEntry<BookAction & { do: 'cancel' }, CancelResult> & {
  name: OrderName
  journaled?: FoundOrder['journaled']
  /** Of an order that may arrive when the exchange has refused its cancel. */
  exclusion?: Exclusion | undefined
}

/** Decides by the journal. @param cancel the raw entries: each is validated by itself */
async function readCancels(
  type: BookSet,
  cancel: readonly Entry[],
  markets: Markets,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<readonly CancelEntry[]> {
  const orders = walletOrders(type, wallet.address, context)

  async function readOne(raw: Entry): Promise<CancelEntry> {
    const fields = readCancel(raw, 'body')
    const name = readName(fields)
    const market = markets.find(fields.market)
    const [journaled] = await orders.journaled({ ...name, market: marketName(market), limit: 1 })
    if (!journaled) return { name, action: { do: 'cancel', market, order: name } }
    const found = { journaled, shown: await orders.show(journaled, undefined, false) }
    if (hasEnded(found.shown.state)) return { name, answer: showEnded(found) }
    if (isPending(found)) {
      const cancelled = await cancelPlacement(found, wallet, context)
      if (!cancelled) throw notYetCancellable(isUnread)
      return { name, answer: cancelled }
    }
    const exclusion = mayYetArrive(found) ? await excludePlacement(type, found, wallet, context) : undefined
    if (exclusion === 'excluded') return { name, answer: showCancelling(found) }
    return { name, journaled, exclusion, action: { do: 'cancel', market, order: { ...name, ...pickName(found.shown) } } }
  }

  const entries: CancelEntry[] = []
  for (const each of cancel)
    entries.push(await catchError(() => readOne(each)).then((entry) => ('error' in entry ? { name: {}, ...entry } : entry)))
  return entries
}

type RefusedCancel = ReturnType<typeof showEnded> | (OrderName & { error: ReturnType<typeof errorFields> })

/**
 * What became of orders whose cancel the exchange refused, by the entry's index: they may have been filled meanwhile, or never have
 * existed. If the exchange cannot be asked, the response has the refusal without a state of the order, because the rest of the batch was
 * sent.
 */
async function explainRefusedCancels(
  type: BookSet,
  cancels: readonly CancelEntry[],
  results: ActionResults,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<ReadonlyMap<number, RefusedCancel>> {
  const refused = cancels.flatMap((entry, index) => {
    const refusal = 'action' in entry ? refusalOf(results.get(index)) : undefined
    return 'action' in entry && refusal ? [{ entry, action: entry.action, index, refusal }] : []
  })
  const explained = new Map<number, RefusedCancel>()
  if (refused.length === 0) return explained
  const orders = walletOrders(type, wallet.address, context)
  // Also after a defect of the connector: that something was sent matters more than the order's end state.
  const found = await orders.onExchange({ names: refused.map(({ action }) => action.order) }).catch((error: unknown) => ({ error }))
  for (const { entry, action, index, refusal } of refused) {
    const { name, journaled, exclusion } = entry
    if ('error' in found) {
      explained.set(index, { ...name, error: errorFields(exclusion ? refusedBefore(exclusion) : refusal) })
      continue
    }
    const exchange = found.find((each) => isNamedBy(each, action))
    const shown = journaled ? await orders.show(journaled, exchange, false) : exchange && showForeign(exchange, false)
    if (shown && hasEnded(shown.state)) explained.set(index, showEnded({ shown }))
    else if (shown && journaled && mayYetArrive({ journaled, shown }))
      explained.set(index, { ...name, error: errorFields(refusedBefore(exclusion)) })
    else explained.set(index, { ...name, error: errorFields(shown ? refusal : unknownOrder(type, name, wallet.address)) })
  }
  return explained
}

const isNamedBy = (order: BookOrder, { market, order: { orderId, clientOrderId } }: BookAction & { do: 'cancel' }) =>
  order.market.id === market.id && (orderId === undefined ? order.clientOrderId === clientOrderId : order.orderId === orderId)

/** An entry of a batch: an action to submit, a response that is known already, or an error. */
type BatchEntry<A extends BookAction, Shown extends object> = { action: A } | { answer: Shown } | { error: SluiceError }

/** @param name identifies the entry beside an error */
function showEntry<A extends BookAction, Shown extends object, Name extends object, Result extends object>(
  entry: BatchEntry<A, Shown>,
  result: ActionResult | undefined,
  name: Name,
  show: (action: A, submitted: SubmittedAction) => Result,
): Shown | Result | (Name & { error: ReturnType<typeof errorFields> }) {
  if ('answer' in entry) return entry.answer
  if ('error' in entry) return { ...name, error: errorFields(entry.error) }
  // The last submission is made when all other results are known.
  return result instanceof SluiceError ? { ...name, error: errorFields(result) } : show(entry.action, requireSubmitted(result))
}

/** Returns the error of an entry. A defect, or an unavailable store, fails the whole request. */
async function catchError<T>(read: () => Promise<T>): Promise<T | { error: SluiceError }> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SluiceError && error.name !== 'UNKNOWN_ERROR') return { error }
    throw error
  }
}
