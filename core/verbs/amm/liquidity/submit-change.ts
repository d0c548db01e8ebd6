import type { Plan } from '../../../contracts/index.ts'
import type { Submitted } from '../../../transactions/index.ts'
import type { Call, On, Services } from '../../context.ts'
import { readFees, showGas } from '../../fees.ts'
import { readAddress, requireKey } from '../../wallets.ts'
import { aboutLiquidity } from './about-liquidity.ts'
import type { OrderedPair } from './pair.ts'

type Context = Call & { services: Services } & On<'connector'>
type Wallet = { address: string; nonce?: number; maxFeePerGas?: string; maxPriorityFeePerGas?: string }

/** Who changes liquidity, and what the wallet offers for gas. */
export function readWallet(request: Wallet, { network, services }: Context) {
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { address, wish: readFees(request, network), nonce: request.nonce }
}

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
