import type { Plan } from '../../../contracts/index.ts'
import type { Submitted } from '../../../transactions/submit-request.ts'
import type { Call, On, Services } from '../../../handlers/context.ts'
import { showGas } from '../../fees.ts'
import type { readWallet } from '../../read-wallet.ts'
import { aboutLiquidity } from './about-liquidity.ts'
import type { OrderedPair } from './pair.ts'

type Context = Call & { services: Services } & On<'connector'>

/** Has a plan carried out, and answers with what is shown of it. */
export async function submitChange<S extends object>(
  change: { plan: Plan; order: OrderedPair; shown: S; valueRaw: bigint },
  wallet: ReturnType<typeof readWallet>,
  context: Context,
) {
  const { plan, order, shown, valueRaw } = change
  const { network, venue, services, signal } = context
  const answer = ({ gas, nonce, txHash }: Submitted) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
  const scope = { contracts: venue.contracts, valueRaw }
  const about = aboutLiquidity(order)
  return answer(await services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'liquidity', about, answer }, signal))
}
