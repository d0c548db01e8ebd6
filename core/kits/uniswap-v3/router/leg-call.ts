import { parseUnits, solidityPacked } from 'ethers'
import type { Hop } from '../../../contracts/index.ts'
import { tokensAlong, type Leg } from './legs.ts'
import type { RouterDialect } from './router-kinds.ts'

/** What a leg is to do. */
export interface LegTerms {
  readonly exact: 'in' | 'out'
  /** In or out, as `exact` says; 0 of an exact amount in stands for all that the router has. */
  readonly amountRaw: bigint
  /** The least out, or the most in. */
  readonly boundRaw: bigint
  readonly recipient: string
  readonly deadline: number
}

// The price may go wherever the amounts lead: bounds are on amounts.
const noPriceLimit = 0n

/** The router's call for a leg. */
export function legCall({ kind, hops }: Leg, terms: LegTerms, { functions, deadlineInside }: RouterDialect): string {
  const { exact, amountRaw, boundRaw, recipient, deadline } = terms
  if (kind === 'constant-product')
    return functions.encodeFunctionData('swapExactTokensForTokens', [amountRaw, boundRaw, tokensAlong(hops), recipient])
  const method = exact === 'in' ? 'exactInput' : 'exactOutput'
  const rest = [recipient, ...(deadlineInside ? [deadline] : []), amountRaw, boundRaw]
  const [first, ...others] = hops
  if (first && others.length === 0) {
    const { tokenIn, tokenOut } = first
    return functions.encodeFunctionData(`${method}Single`, [[tokenIn, tokenOut, feeOf(first), ...rest, noPriceLimit]])
  }
  return functions.encodeFunctionData(method, [[pathOf(hops, exact), ...rest]])
}

/** Tokens and fees in turn; from the last to the first where the amount out is exact: library Path of @uniswap/v3-periphery. */
function pathOf(hops: readonly Hop[], exact: 'in' | 'out'): string {
  const inOrder = (tokens: readonly string[], fees: readonly bigint[]) =>
    solidityPacked(
      ['address', ...fees.flatMap(() => ['uint24', 'address'])],
      tokens.flatMap((token, index) => (index === 0 ? [token] : [fees[index - 1], token])),
    )
  const [tokens, fees] = [tokensAlong(hops), hops.map(feeOf)]
  return exact === 'in' ? inOrder(tokens, fees) : inOrder(tokens.toReversed(), fees.toReversed())
}

/** "0.003" → 3000: hundredths of a basis point. */
function feeOf({ pool, fee }: Hop): bigint {
  if (fee === undefined) throw new Error(`The route passes ${pool} without its fee.`)
  return parseUnits(fee, 6)
}
