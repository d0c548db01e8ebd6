import type { Hop, Plan, Quote, SwapTerms } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { swapPlan } from '../index.ts'
import type { StablePool } from './pools.ts'
import { routerAbi } from '../../../core/kits/stable/router-abi.ts'

/** One call to the router, with the bound and the deadline enforced by it. */
export const planSwap = (quote: Quote, terms: SwapTerms, pools: readonly StablePool[]): Plan<Evm> =>
  swapPlan(quote, terms, {
    router: quote.spender,
    data: routerCall(quote, terms, pools),
    memo: { router: quote.spender, recipient: terms.recipient },
  })

function routerCall({ swap, route, amountRaw }: Quote, { boundRaw, recipient, deadline }: SwapTerms, pools: readonly StablePool[]): string {
  const hops = route.map((hop) => hopOf(hop, pools))
  const terms = [route[0]?.tokenIn, recipient, swap.tokenOut.native === true, deadline]
  return swap.exact === 'in'
    ? routerAbi.encodeFunctionData('sell', [terms, swap.amountRaw, boundRaw, hops])
    : routerAbi.encodeFunctionData('buy', [terms, swap.amountRaw, amountRaw, boundRaw, hops])
}

function hopOf({ pool: address, tokenIn, tokenOut }: Hop, pools: readonly StablePool[]) {
  const pool = pools.find((each) => each.address === address)
  const [from, to] = [tokenIn, tokenOut].map((token) => pool?.coins.findIndex((coin) => coin.address === token) ?? -1)
  if (from === -1 || to === -1) throw new Error(`${address} is no pool of ${tokenIn} and ${tokenOut}.`)
  return [address, from, to, tokenOut]
}
