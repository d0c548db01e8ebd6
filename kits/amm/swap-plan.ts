import type { Json, Need, Plan, Quote, SwapTerms } from '../../core/contracts/index.ts'
import type { Alike, Evm } from '../evm/types.ts'

/** How one router does a swap. */
export interface RouterCall {
  router: string
  /** With the bound and the deadline in it, which the router enforces. */
  data: string
  memo: Json
  /** Beside those of the payment. */
  needs?: readonly Need[]
}

/** One call to a router that pays at most what the terms allow: as its value where it is the coin, else by an allowance. */
export function swapPlan(quote: Quote, { boundRaw, deadline }: SwapTerms, { router, data, memo, needs = [] }: RouterCall): Plan<Evm> {
  const { tokenIn, exact, amountRaw } = quote.swap
  const mostInRaw = exact === 'in' ? amountRaw : boundRaw
  const allowance: Need = { is: 'allowance', token: tokenIn.address, spender: router, amountRaw: mostInRaw }
  return {
    steps: [{ to: router, data, value: (tokenIn.native ? mostInRaw : 0n).toString(), alike: alikeOf(quote) }],
    needs: [{ is: 'balance', token: tokenIn.address, amountRaw: mostInRaw }, ...(tokenIn.native ? [] : [allowance]), ...needs],
    deadline,
    memo,
  }
}

/** Swaps of one shape through pools of the same versions use as much gas, but for what the pools say themselves. */
function alikeOf({ swap: { tokenIn, tokenOut, exact }, route, parts = [], gasUnits, firstWriteUnits = 0n }: Quote): Alike {
  const coins = [tokenIn, tokenOut].map(({ native }) => (native ? 'coin' : 'token'))
  const ways = parts.length > 0 ? parts.map(({ hops }) => hops) : [route.length]
  return {
    kind: [exact, ...coins, ...route.map(({ version }) => version), ...ways].join(' '),
    units: gasUnits.toString(),
    firstWriteUnits: firstWriteUnits.toString(),
    through: route.map((hop) => `${hop.pool} ${hop.tokenIn} ${hop.tokenOut}`),
  }
}
