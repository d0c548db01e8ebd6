// Outcomes that are no answer to an equal request any more: things have gone on since.
import { SluiceError, type InterfaceCall } from 'sluice/interface'
import type { NamedPosition } from './positions.ts'
import type { Venue } from './venues.ts'

/** What the journal has of the key. Whether this request decided what is done says nothing of it: what was decided before is not always known. */
export async function signedUnder(key: string, { call }: InterfaceCall): Promise<{ txHash: string; createdAt: number } | undefined> {
  const { transactions } = await call('Transactions', { idempotencyKey: key })
  for (const { txHash, createdAt } of transactions) if (txHash !== null) return { txHash, createdAt }
  return undefined
}

/** That its key is never used again, and the next request has another one. */
export const past = (txHash: string, why: string) =>
  new SluiceError('TRADE_FAILED', `The transaction ${txHash} ${why}.`, { details: { txHash, isPast: true } })

const isPast = (thrown: unknown): boolean => thrown instanceof SluiceError && Reflect.get(Object(thrown.details), 'isPast') === true

/** Once more where what it found is `past`. @throws what the work throws else */
export async function untilNotPast<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const done = await work().then(
      (found) => ({ found }),
      (thrown: unknown) => ({ thrown }),
    )
    if ('found' in done) return done.found
    if (!isPast(done.thrown)) throw done.thrown
  }
}

interface ChangesQuery {
  /** By the clock: those that were requested then or later. */
  readonly createdAt: number
  readonly venue: Venue
  readonly address: string
  readonly call: InterfaceCall
}

/** Whether a request has named a position since it was opened: who adopts or closes one whose open was never answered ends that lost answer. */
export const isUsedSince = (position: NamedPosition, query: ChangesQuery): Promise<boolean> => isAnyChange(position, query, () => true)

/** Whether the journal has a change of the position that is as asked for. */
export async function isAnyChange(
  { tokenId, version }: NamedPosition,
  { createdAt, venue, address, call }: ChangesQuery,
  is: (change: { readonly final: boolean; readonly txState: string; readonly updatedAt: number }) => boolean,
): Promise<boolean> {
  const since = new Date(createdAt).toISOString()
  for (let cursor: string | undefined; ;) {
    const page = await call.call('Transactions', {
      ...venue.own,
      kind: 'liquidity',
      address,
      since,
      archived: true,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    if (page.transactions.some((each) => names(each, tokenId, version) && is(each))) return true
    if (page.nextCursor === undefined) return false
    cursor = page.nextCursor
  }
}

/** Without a version it is of the first one, or of another: then a position of the same number counts as used, which opens anew. */
function names({ request }: { request?: { fields: unknown } }, tokenId: string, version: string): boolean {
  const fields: object = Object(request?.fields)
  const [named, namedVersion]: readonly unknown[] = [Reflect.get(fields, 'tokenId'), Reflect.get(fields, 'version')]
  return String(named) === tokenId && (namedVersion === undefined || namedVersion === version)
}
