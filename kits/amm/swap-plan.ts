import type { Json, Need, Plan, Quote, SwapTerms } from '../../core/contracts/index.ts'
import type { GasProfile, Evm } from '../evm/types.ts'

/** How one router does a swap. */
interface RouterCall {
  router: string
  /** Calldata with the bound and the deadline in it, which the router enforces. */
  data: string
  memo: Json
  /** In addition to those of the payment. */
  needs?: readonly Need[]
  /** The contract by which the router takes tokens, where that is not the token itself. */
  permit2?: string
  /** What other swaps before it may make it use beyond an estimate. */
  spareGas?: bigint
}

/** One call to a router that pays at most what the terms allow: the native coin as the call's value, another token by an allowance. */
export function swapPlan(
  quote: Quote,
  { boundRaw, deadline }: SwapTerms,
  { router, data, memo, needs = [], permit2, spareGas }: RouterCall,
): Plan<Evm> {
  const { tokenIn, exact, amountRaw } = quote.swap
  const maxInRaw = exact === 'in' ? amountRaw : boundRaw
  const allowance: Need = {
    is: 'allowance',
    token: tokenIn.address,
    spender: router,
    amountRaw: maxInRaw,
    ...(permit2 !== undefined && { permit2, until: deadline }),
  }
  return {
    steps: [
      {
        to: router,
        data,
        value: (tokenIn.native ? maxInRaw : 0n).toString(),
        alike: gasProfileOf(quote),
        ...(spareGas !== undefined && { spareGas: spareGas.toString() }),
      },
    ],
    needs: [{ is: 'balance', token: tokenIn.address, amountRaw: maxInRaw }, ...(tokenIn.native ? [] : [allowance]), ...needs],
    deadline,
    memo,
  }
}

/** Swaps with the same tokens' kinds, versions and hops use the same gas, except for the units that the pools report. */
function gasProfileOf({ swap: { tokenIn, tokenOut, exact }, route, parts = [], gasUnits, firstWriteUnits = 0n }: Quote): GasProfile {
  const coins = [tokenIn, tokenOut].map(({ native }) => (native ? 'coin' : 'token'))
  const hopCounts = parts.length > 0 ? parts.map(({ hops }) => hops) : [route.length]
  return {
    kind: [exact, ...coins, ...route.map(({ version }) => version), ...hopCounts].join(' '),
    units: gasUnits.toString(),
    firstWriteUnits: firstWriteUnits.toString(),
    through: route.map((hop) => `${hop.pool} ${hop.tokenIn} ${hop.tokenOut}`),
  }
}
