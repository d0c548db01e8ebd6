import {
  badFields,
  SluiceError,
  type ErrorName,
  CLOBBatchOrdersRequest,
  CLOBMarginBatchOrdersRequest,
  CLOBPerpBatchOrdersRequest,
  type BookSet,
} from '../../api/index.ts'
import type { BookAction, BookOrder, OrderName } from '../../contracts/index.ts'
import { fieldsReader } from '../read-fields.ts'
import { readWallet } from '../wallets.ts'
import { type BookHandlerFor, marketsOf, type Markets, marketName } from './markets.ts'
import { hasEnded } from './order-state.ts'
import {
  defaultClientOrderId,
  findRepeatedOrder,
  isPending,
  nameOnExchange,
  notYetCancellable,
  refusalOf,
  showEnded,
  cancelPlacement,
} from './orders.ts'
import { readOrder } from './read-order.ts'
import {
  submitActions,
  type ActionResults,
  showCancel,
  showPlaced,
  type ConnectorContext,
  type SigningWallet,
  requireSubmitted,
  type SubmittedAction,
  type ActionResult,
} from './submit-actions.ts'
import { walletOrders, readName, unknownOrder, type FoundOrder } from './wallet-orders.ts'
import { isObject } from '../../json.ts'

/** Many orders at once, each with what it came to: what is wrong with one keeps no other from going. */
export const clobBatchOrders: BookHandlerFor<'BatchOrders'> = (type) => async (request, context) => {
  const { create = [], cancel = [] } = request
  if (create.length + cancel.length === 0)
    throw badFields([{ field: 'create', problem: 'is empty, and so is cancel: there is nothing to do' }])
  const wallet = readWallet(request, context)
  const markets = await marketsOf(type, context.venue, { signal: context.signal })
  const cancels = await readCancels(type, cancel, markets, wallet, context)
  const creates = await readCreates(type, create, markets, wallet, context)

  // Cancels have the first numbers, as they come first.
  const numberOf = (place: number) => cancels.length + place
  const actions = new Map<number, BookAction>()
  for (const [place, each] of cancels.entries()) if ('action' in each) actions.set(place, each.action)
  for (const [place, each] of creates.entries()) if ('action' in each) actions.set(numberOf(place), each.action)

  const refused = new Map<number, RefusedCancel>()
  const answer = (results: ActionResults) => ({
    created: creates.map((each, place) =>
      showEntry(each, results.get(numberOf(place)), { clientOrderId: each.clientOrderId }, ({ order }, done) => showPlaced(order, done)),
    ),
    cancelled: cancels.map(
      (each, place) => refused.get(place) ?? showEntry(each, results.get(place), each.name, ({ order }, done) => showCancel(order, done)),
    ),
  })
  // Before the answer is journaled, and again for what was refused with the last submission.
  const askAfterRefusals = async (results: ActionResults) => {
    const news = new Map([...results].filter(([place]) => !refused.has(place)))
    for (const [place, told] of await explainRefusedCancels(type, cancels, news, wallet, context)) refused.set(place, told)
  }
  const results = await submitActions(type, actions, wallet, context, answer, askAfterRefusals)
  requireAny([...creates, ...cancels], results)
  await askAfterRefusals(results)
  return answer(results)
}

const passing: readonly ErrorName[] = ['TIMEOUT', 'NETWORK', 'RATE_LIMIT', 'SERVICE_UNINITIALIZED', 'OVERLOADED']

/**
 * Where nothing came of any entry, for a reason that passes, that is the request's error: it may be repeated with the same key. TIMEOUT before
 * all others, since after that one something may have come of its entry all the same.
 */
function requireAny(entries: readonly object[], results: ActionResults): void {
  const failures = [...results.values()].flatMap((each) => (each instanceof SluiceError ? [each] : []))
  if (failures.length < results.size || entries.some((each) => 'answer' in each)) return
  const passes = passing.flatMap((each) => failures.find(({ name }) => name === each) ?? [])[0]
  if (passes) throw passes
}

const readers = {
  CLOB: fieldsReader(CLOBBatchOrdersRequest.properties.create.items),
  MARGIN_CLOB: fieldsReader(CLOBMarginBatchOrdersRequest.properties.create.items),
  PERP_CLOB: fieldsReader(CLOBPerpBatchOrdersRequest.properties.create.items),
}

type Placed = NonNullable<Awaited<ReturnType<typeof findRepeatedOrder>>>
type CreateEntry = BatchEntry<BookAction & { do: 'create' }, Placed> & { clientOrderId?: string }

/** @param create as the caller wrote them: each is judged by itself */
async function readCreates(
  type: BookSet,
  create: readonly unknown[],
  markets: Markets,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<readonly CreateEntry[]> {
  const at = { signal: context.signal }
  const orders = walletOrders(type, wallet.address, context)
  const firstWith = new Map<string, number>()

  async function readOne(written: unknown, place: number): Promise<CreateEntry> {
    const fields = readers[type](asFields(written, 'create'), 'body')
    const clientOrderId = fields.clientOrderId ?? defaultClientOrderId(context, place)
    const first = firstWith.get(clientOrderId)
    if (first !== undefined) return { error: usedTwice(first), clientOrderId }
    firstWith.set(clientOrderId, place)
    const read = await catchError(async () => {
      const market = markets.find(fields.market)
      const before = await findRepeatedOrder(type, wallet.address, clientOrderId, context)
      if (before) return { answer: before }
      if (fields.clientOrderId !== undefined && (await orders.isTaken(clientOrderId))) throw taken(clientOrderId)
      return { action: { do: 'create', market, order: await readOrder(type, { ...fields, clientOrderId }, market, context, at) } as const }
    })
    return { ...read, clientOrderId }
  }

  const read: CreateEntry[] = []
  for (const [place, each] of create.entries()) read.push(await catchError(() => readOne(each, place)))
  return read
}

/** @throws SluiceError INCOMPLETE_PARAMS where an entry is no object */
function asFields(written: unknown, field: 'create' | 'cancel'): Readonly<Record<string, unknown>> {
  if (isObject(written)) return written
  throw badFields([{ field, problem: 'this entry of it is no JSON object' }])
}

const usedTwice = (first: number) =>
  badFields([{ field: 'clientOrderId', problem: `is that of create[${first}] too: one of them is enough` }])

/** A plan of many orders is refused as a whole where an id was used: known before, it is told of its order alone. */
const taken = (clientOrderId: string) =>
  new SluiceError(
    'IDEMPOTENCY_CONFLICT',
    `The clientOrderId ${clientOrderId} was used before by this wallet there: nothing was sent. GET the orders with it to see what became of that one.`,
    { details: { clientOrderId } },
  )

const read = fieldsReader(CLOBBatchOrdersRequest.properties.cancel.items)

type Stopped = ReturnType<typeof showEnded> | NonNullable<Awaited<ReturnType<typeof cancelPlacement>>>
type CancelEntry = BatchEntry<BookAction & { do: 'cancel' }, Stopped> & { name: OrderName; journaled?: FoundOrder['journaled'] }

/** @param cancel as the caller wrote them: each is judged by itself, by what the journal knows of it */
async function readCancels(
  type: BookSet,
  cancel: readonly unknown[],
  markets: Markets,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<readonly CancelEntry[]> {
  const orders = walletOrders(type, wallet.address, context)

  async function readOne(written: unknown): Promise<CancelEntry> {
    const fields = read(asFields(written, 'cancel'), 'body')
    const name = readName(fields)
    const market = markets.find(fields.market)
    const [journaled] = await orders.journaled({ ...name, market: marketName(market), limit: 1 })
    if (!journaled) return { name, action: { do: 'cancel', market, order: name } }
    const found = { journaled, shown: await orders.show(journaled, undefined, false) }
    if (hasEnded(found.shown.state)) return { name, answer: showEnded(found) }
    if (isPending(found)) {
      const stopped = await cancelPlacement(found, wallet, context)
      if (!stopped) throw notYetCancellable()
      return { name, answer: stopped }
    }
    return { name, journaled, action: { do: 'cancel', market, order: { ...name, ...nameOnExchange(found) } } }
  }

  const entries: CancelEntry[] = []
  for (const each of cancel)
    entries.push(await catchError(() => readOne(each)).then((entry) => ('error' in entry ? { name: {}, ...entry } : entry)))
  return entries
}

type RefusedCancel = ReturnType<typeof showEnded> | (OrderName & { error: ReturnType<typeof showError> })

/**
 * What the exchange did not cancel, by the place of its entry: it may have been filled in between, or never have been there. Where it cannot
 * be asked, what it said against the cancel is all that is told, and no state of the order: the rest of the batch was sent.
 */
async function explainRefusedCancels(
  type: BookSet,
  cancels: readonly CancelEntry[],
  results: ActionResults,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<ReadonlyMap<number, RefusedCancel>> {
  const refused = cancels.flatMap((entry, place) => {
    const refusal = 'action' in entry ? refusalOf(results.get(place)) : undefined
    return 'action' in entry && refusal ? [{ entry, action: entry.action, place, refusal }] : []
  })
  const told = new Map<number, RefusedCancel>()
  if (refused.length === 0) return told
  const orders = walletOrders(type, wallet.address, context)
  // Also where the connector fails by a defect: that something was sent is worth more than what the order ended as.
  const found = await orders
    .onExchange({ names: refused.map(({ action }) => action.order) }, { signal: context.signal })
    .catch((error: unknown) => ({ error }))
  for (const { entry, action, place, refusal } of refused) {
    const { name, journaled } = entry
    if ('error' in found) {
      told.set(place, { ...name, error: showError(refusal) })
      continue
    }
    const exchange = found.find((each) => isOf(each, action))
    const shown = journaled ? await orders.show(journaled, exchange, false) : exchange && orders.showForeign(exchange, false)
    if (shown && hasEnded(shown.state)) told.set(place, showEnded({ shown }))
    else told.set(place, { ...name, error: showError(shown ? refusal : unknownOrder(type, name, wallet.address)) })
  }
  return told
}

const isOf = (order: BookOrder, { market, order: { orderId, clientOrderId } }: BookAction & { do: 'cancel' }) =>
  order.market.id === market.id && (orderId === undefined ? order.clientOrderId === clientOrderId : order.orderId === orderId)

/** An entry of a batch: what is to be done for it, what it came to already, or why it comes to nothing. */
type BatchEntry<A extends BookAction, Shown extends object> = { action: A } | { answer: Shown } | { error: SluiceError }

function showError({ code, name, message, http, details }: SluiceError) {
  return { errorCode: code, name, message, httpErrorCode: http, ...(details !== undefined && { details }) }
}

/** @param name what the entry is known by, where it came to nothing */
function showEntry<A extends BookAction, Shown extends object, Name extends object, Told extends object>(
  entry: BatchEntry<A, Shown>,
  result: ActionResult | undefined,
  name: Name,
  show: (action: A, done: SubmittedAction) => Told,
): Shown | Told | (Name & { error: ReturnType<typeof showError> }) {
  if ('answer' in entry) return entry.answer
  const error = 'error' in entry ? entry.error : result instanceof SluiceError ? result : undefined
  if (error) return { ...name, error: showError(error) }
  // Before the last of a batch is signed all others have come to something, and so has that one by then.
  if ('error' in entry) throw entry.error
  return show(entry.action, requireSubmitted(result))
}

/** What belongs to a request belongs to no entry: a defect, or a store that is away, is not told of each. */
async function catchError<T>(read: () => Promise<T>): Promise<T | { error: SluiceError }> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SluiceError && error.name !== 'UNKNOWN_ERROR') return { error }
    throw error
  }
}
