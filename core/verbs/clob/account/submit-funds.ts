import type { BookSet } from '../../../api/index.ts'
import type { BookPlan, Json } from '../../../contracts/index.ts'
import type { Submitted } from '../../../transactions/index.ts'
import { withMeaning } from '../../explain-refusal.ts'
import { withListedNames } from '../../listed-names.ts'
import type { BookContext, Wallet } from '../orders/carry-out.ts'

/** What the request is about, as the journal keeps it. */
export type Funds = { readonly type: BookSet; readonly how: string } & { readonly [field: string]: Json }

/**
 * Has what moves funds, or changes how they are held, carried out.
 * @param valueRaw the most of the native coin that it may send
 */
export async function submitFunds<S extends object>(
  plan: BookPlan,
  { about, shown, valueRaw }: { about: Funds; shown: S; valueRaw: bigint },
  wallet: Wallet,
  context: BookContext,
) {
  const { network, venue, services, signal } = context
  const onChain = !('via' in plan)
  const answer = ({ txHash, nonce, landed }: Submitted) => ({
    id: txHash,
    state: landed === undefined ? ('PENDING' as const) : landed.ok ? ('DONE' as const) : ('REJECTED' as const),
    ...(landed?.reason !== undefined && { reason: landed.reason }),
    ...shown,
    ...(onChain && { txHash, nonce }),
  })
  const scope = { contracts: venue.contracts, valueRaw }
  const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'funds', about, answer }, signal)
  return answer(await withMeaning(withListedNames(submitted, network), venue))
}
