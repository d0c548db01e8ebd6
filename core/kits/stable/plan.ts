import type { Hop, Need, Plan, Quote, SwapTerms } from '../../contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import type { StablePool } from './exchange.ts'
import { routerAbi } from './router-abi.ts'

/** One call to the router, with the bound and the deadline enforced by it. */
export function planSwap(quote: Quote, { boundRaw, recipient, deadline }: SwapTerms, pools: readonly StablePool[]): Plan<Evm> {
  const { swap, route, spender } = quote
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const mostInRaw = exact === 'in' ? amountRaw : boundRaw
  const needs: Need[] = [{ is: 'balance', token: tokenIn.address, amountRaw: mostInRaw }]
  if (!tokenIn.native) needs.push({ is: 'allowance', token: tokenIn.address, spender, amountRaw: mostInRaw })

  const hops = route.map((hop) => hopOf(hop, pools))
  const terms = [route[0]?.tokenIn, recipient, tokenOut.native === true, deadline]
  const data =
    exact === 'in'
      ? routerAbi.encodeFunctionData('sell', [terms, amountRaw, boundRaw, hops])
      : routerAbi.encodeFunctionData('buy', [terms, amountRaw, quote.amountRaw, boundRaw, hops])
  return {
    steps: [{ to: spender, data, value: (tokenIn.native ? mostInRaw : 0n).toString() }],
    needs,
    deadline,
    memo: { router: spender, recipient },
  }
}

function hopOf({ pool: address, tokenIn, tokenOut }: Hop, pools: readonly StablePool[]) {
  const pool = pools.find((each) => each.address === address)
  const [from, to] = [tokenIn, tokenOut].map((token) => pool?.coins.findIndex((coin) => coin.address === token) ?? -1)
  if (from === -1 || to === -1) throw new Error(`${address} is no pool of ${tokenIn} and ${tokenOut}.`)
  return [address, from, to, tokenOut]
}
