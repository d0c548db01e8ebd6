import {
  badFields,
  CLOBBatchOrdersRequest,
  CLOBMarginBatchOrdersRequest,
  CLOBPerpBatchOrdersRequest,
  SluiceError,
  type BookSet,
} from '../../../api/index.ts'
import type { BookAction } from '../../../contracts/index.ts'
import { fieldsReader } from '../../../handlers/read-fields.ts'
import type { Markets } from '../../../handlers/clob/markets.ts'
import { orError, type Entry } from './batch-entry.ts'
import type { BookContext, Wallet } from '../../../handlers/clob/submit-actions.ts'
import { madeOrderId } from './made-order-id.ts'
import { placedBefore } from './placed-before.ts'
import { readOrder } from './read-order.ts'
import { walletOrders } from '../../../handlers/clob/wallet-orders.ts'

const readers = {
  CLOB: fieldsReader(CLOBBatchOrdersRequest.properties.create.items),
  MARGIN_CLOB: fieldsReader(CLOBMarginBatchOrdersRequest.properties.create.items),
  PERP_CLOB: fieldsReader(CLOBPerpBatchOrdersRequest.properties.create.items),
}

type Placed = NonNullable<Awaited<ReturnType<typeof placedBefore>>>
export type CreateEntry = Entry<BookAction & { do: 'create' }, Placed> & { clientOrderId?: string }

/** @param create as the caller wrote them: each is judged by itself */
export async function readCreates(
  type: BookSet,
  create: readonly unknown[],
  markets: Markets,
  wallet: Wallet,
  context: BookContext,
): Promise<readonly CreateEntry[]> {
  const at = { signal: context.signal }
  const orders = walletOrders(type, wallet.address, context)
  const firstWith = new Map<string, number>()

  async function readOne(written: unknown, place: number): Promise<CreateEntry> {
    const fields = readers[type](asFields(written, 'create'), 'body')
    const clientOrderId = fields.clientOrderId ?? madeOrderId(context, place)
    const first = firstWith.get(clientOrderId)
    if (first !== undefined) return { error: usedTwice(first), clientOrderId }
    firstWith.set(clientOrderId, place)
    const read = await orError(async () => {
      const market = markets.find(fields.market)
      const before = await placedBefore(type, wallet.address, clientOrderId, context)
      if (before) return { answer: before }
      if (fields.clientOrderId !== undefined && (await orders.isTaken(clientOrderId))) throw taken(clientOrderId)
      return { action: { do: 'create', market, order: await readOrder(type, { ...fields, clientOrderId }, market, context, at) } as const }
    })
    return { ...read, clientOrderId }
  }

  const read: CreateEntry[] = []
  for (const [place, each] of create.entries()) read.push(await orError(() => readOne(each, place)))
  return read
}

/** @throws SluiceError INCOMPLETE_PARAMS where an entry is no object */
export function asFields(written: unknown, field: 'create' | 'cancel'): Readonly<Record<string, unknown>> {
  if (typeof written === 'object' && written !== null && !Array.isArray(written)) return Object.fromEntries(Object.entries(written))
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
