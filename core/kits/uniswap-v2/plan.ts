import type { Plan, Quote, SwapTerms } from '../../contracts/index.ts'
import type { Evm } from '../../../kits/evm/types.ts'
import { swapPlan } from '../../../kits/amm/index.ts'
import { memoOf } from './memo.ts'
import type { RouterAbi } from './router-abi.ts'

/** One call to the router, with the bound and the deadline enforced by it. */
export const planSwap = (quote: Quote, terms: SwapTerms, abi: RouterAbi): Plan<Evm> =>
  swapPlan(quote, terms, { router: quote.spender, data: routerCall(quote, terms, abi), memo: memoOf(quote, terms.recipient) })

function routerCall({ swap, route }: Quote, { boundRaw, recipient, deadline }: SwapTerms, { functions, coin }: RouterAbi): string {
  const path = [...route.slice(0, 1).map((hop) => hop.tokenIn), ...route.map((hop) => hop.tokenOut)]
  const rest = [path, recipient, deadline]
  const from = swap.tokenIn.native ? coin : 'Tokens'
  const to = swap.tokenOut.native ? coin : 'Tokens'
  const amounts = [swap.amountRaw, boundRaw]
  if (swap.exact === 'in') {
    // The value is the exact amount, so it is not passed.
    return functions.encodeFunctionData(`swapExact${from}For${to}`, [...(swap.tokenIn.native ? [boundRaw] : amounts), ...rest])
  }
  // The value is the bound, and the router gives back what it does not use.
  return functions.encodeFunctionData(`swap${from}ForExact${to}`, [...(swap.tokenIn.native ? [swap.amountRaw] : amounts), ...rest])
}
