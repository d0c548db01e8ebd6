import type { BookSet } from '../../../api/index.ts'
import type { BookPlan, Json } from '../../../contracts/index.ts'
import type { Scope, Submitted } from '../../../transactions/submit-request.ts'
import { withMeaning } from '../../../handlers/explain-errors.ts'
import { withListedNames } from '../../listed-names.ts'
import type { BookContext, Wallet } from '../../../handlers/clob/submit-actions.ts'

/** What the request is about, as the journal keeps it. */
export type Funds = { readonly type: BookSet; readonly how: string } & { readonly [field: string]: Json }

/** Has what moves funds, or changes how they are held, carried out: on the context's network, or by the exchange's own rail. */
export async function submitFunds<S extends object>(
  plan: BookPlan,
  { about, shown, scope }: { about: Funds; shown: S; scope: Scope },
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
  const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'funds', about, answer }, signal)
  return answer(await withMeaning(withListedNames(submitted, network), venue))
}
