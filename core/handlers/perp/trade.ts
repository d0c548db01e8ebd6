import type { PerpClosing, PerpQuote, PerpTerms, Plan } from '../../contracts/index.ts'
import type { Submitted } from '../../transactions/submit-request.ts'
import { deadlineAfter } from '../../verbs/amm/deadline.ts'
import type { readWallet } from '../../verbs/read-wallet.ts'
import type { Call, On, Services } from '../context.ts'
import { withMeaning } from '../explain-errors.ts'
import { showGas } from '../../verbs/fees.ts'
import { effectiveSlippage, slippageBound, tighterBound } from '../slippage.ts'
import { aboutPosition } from './fills.ts'
import { limitOf, orderPrice, quotedOf } from '../../verbs/perp-amm/trade/read-order.ts'

/** What is to be done as quoted, and what is shown of it beside its price and bounds. */
interface Trade<S> {
  quote: PerpQuote | PerpClosing
  shown: S
  planOf(terms: PerpTerms): Plan
}

/** Has a trade carried out, with its bound and its deadline. */
export async function submitTrade<S extends object>(
  { quote: { order, quoteRaw, head }, shown, planOf }: Trade<S>,
  wallet: ReturnType<typeof readWallet>,
  request: { limitPrice?: string; allowedSlippage?: string },
  context: Call & { services: Services } & On<'connector'>,
) {
  const { network, venue, services, signal } = context
  const quoted = quotedOf(order, quoteRaw)
  const price = orderPrice(order, quoteRaw)
  const slippage = slippageBound(quoted, effectiveSlippage(venue.config, [], request.allowedSlippage))
  const boundRaw = tighterBound(quoted, slippage, limitOf(order, request.limitPrice), price)
  const deadline = deadlineAfter(head, venue.config.ttl)
  const plan = planOf({ owner: wallet.address, boundRaw, deadline })
  // Before anything is sent: what cannot be shown must not become an error about a trade that was made.
  const bounds = { price, limitPrice: orderPrice(order, boundRaw), deadline, blockNumber: Number(head.number) }
  const answer = ({ gas, nonce, txHash }: Submitted) => ({ ...shown, ...bounds, ...showGas(gas, network), nonce, txHash })
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  const about = aboutPosition(order)
  const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'position', about, answer }, signal)
  return answer(await withMeaning(submitted, venue))
}
