// What is decided for a request, with its row: that of a lost answer, or one of its own (`deliveries.ts`).
import { SluiceError } from '../base/errors.ts'
import type { DeliveryRow } from '../store/tables.ts'
import type { createDeliveryChanges } from './delivery-changes.ts'
import type { DeliveryTable, UnkeyedRequest } from './delivery-table.ts'
import type { createLostAnswers } from './lost-answers.ts'
import type { FollowedRequest } from './unkeyed-requests.ts'

interface PreparedRow<P extends object> {
  readonly row: DeliveryRow
  /** What is done. undefined where an equal request has taken its place */
  readonly prepared: P | undefined
}

type PreparedRowsParts = Pick<ReturnType<typeof createDeliveryChanges>, 'leave' | 'settle' | 'forget'> &
  Pick<ReturnType<typeof createLostAnswers>, 'rowOf' | 'findLostBeside'> & { readonly table: Pick<DeliveryTable, 'change' | 'decide'> }

export function createPreparedRows({ table, rowOf, findLostBeside, leave, settle, forget }: PreparedRowsParts) {
  /** undefined where an equal request has taken its place. */
  async function prepareFor<P extends object>(
    row: DeliveryRow,
    prepare: () => Promise<P>,
    { isOneForEver }: UnkeyedRequest,
  ): Promise<P | undefined> {
    let prepared: P
    try {
      prepared = await prepare()
    } catch (error) {
      // One that is one for ever may be decided on by an earlier request meanwhile.
      await settle(row, row.losses > 0 || row.joins > 0)
      throw error
    }
    const text = JSON.stringify(prepared)
    const decided = await (isOneForEver === true ? table.decide(row, text) : decideAlone(row, text)).catch((error: unknown) => {
      void forget(row)
      throw error
    })
    if (decided === undefined) return undefined
    row.prepared = decided
    return decided === text ? prepared : (JSON.parse(decided) as P)
  }

  const decideAlone = async (row: DeliveryRow, text: string) => ((await table.change(row, { prepared: text })) ? text : undefined)

  async function preparedRow<P extends object>(
    request: UnkeyedRequest,
    fingerprint: string,
    prepare: () => Promise<P>,
    followed: FollowedRequest,
  ): Promise<PreparedRow<P>> {
    const row = await rowOf(request, fingerprint)
    followed.hold(row)
    const prepared = row.prepared === '' ? await prepareFor(row, prepare, request) : (JSON.parse(row.prepared) as P)
    if (prepared === undefined || request.isOneForEver === true) return { row, prepared }
    // A busy process reads the end of the first connection long after the second request: nothing is signed for that one yet.
    return (await rowBeside({ row, prepared }, request, fingerprint, followed)) ?? { row, prepared }
  }

  /** That of an equal request whose answer was lost, in the place of one for which nothing was signed. */
  async function rowBeside<P extends object>(
    { row, prepared }: { readonly row: DeliveryRow; readonly prepared: P },
    request: UnkeyedRequest,
    fingerprint: string,
    followed: FollowedRequest,
  ): Promise<PreparedRow<P> | undefined> {
    const lost = await findLostBeside(row, request, fingerprint, followed)
    if (!lost) return undefined
    followed.hold(lost)
    await leave(row)
    return {
      row: lost,
      prepared: lost.prepared === '' ? await prepareFor(lost, async () => prepared, request) : (JSON.parse(lost.prepared) as P),
    }
  }

  /** @throws SluiceError TIMEOUT where an equal request has taken its place; or nobody is there, and nothing is done for nobody */
  async function stillWanted<P extends object>({ row, prepared }: PreparedRow<P>, { isGone }: FollowedRequest) {
    if (!isGone() && prepared !== undefined) return { row, prepared }
    await forget(row)
    throw new SluiceError('TIMEOUT', 'The caller was gone before anything was signed for it, so nothing was.')
  }

  return { preparedRow, rowBeside, stillWanted }
}
