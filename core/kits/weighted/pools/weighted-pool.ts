import type { Passage, Pool } from '../../../../kits/amm/index.ts'
import { complement, divUp, divideUp, mulUp } from '../math/fixed-point.ts'
import { inGivenOut, outGivenIn, type Side } from '../math/weighted-math.ts'

export interface WeightedState {
  readonly holdings: readonly Holding[]
  /** Of the input, with 18 decimals. */
  readonly swapFee: bigint
  /** Powers of 1, 2 and 4 are multiplied out. */
  readonly squares: boolean
}

/** What a pool has of one of its tokens. */
export interface Holding {
  readonly balanceRaw: bigint
  /** With 18 decimals. */
  readonly weight: bigint
  /** What makes 18 decimals of the token's. */
  readonly scale: bigint
}

/** The Vault keeps balances in 112 bits: BalanceAllocation of npm @balancer-labs/v2-vault. */
export const mostBalanceRaw = 2n ** 112n - 1n

export interface HoldingsAlong {
  readonly into: Holding
  readonly outOf: Holding
}

/** @throws where the pool has not both tokens */
export function holdingsAlong(
  { address, tokens, state: { holdings } }: Pool<WeightedState>,
  { tokenIn, tokenOut }: Passage,
): HoldingsAlong {
  const [into, outOf] = [holdings[tokens.indexOf(tokenIn)], holdings[tokens.indexOf(tokenOut)]]
  if (!into || !outOf) throw new Error(`The pool ${address} does not have both ${tokenIn} and ${tokenOut}.`)
  return { into, outOf }
}

const scaled = ({ balanceRaw, weight, scale }: Holding): Side => ({ balance: balanceRaw * scale, weight })

/** `onSwap` of BaseMinimalSwapInfoPool (npm @balancer-labs/v2-pool-utils 2.0.1), given in: the fee comes off before scaling. */
export function amountOut({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedState, amountInRaw: bigint): bigint | undefined {
  if (into.balanceRaw + amountInRaw > mostBalanceRaw) return undefined
  const netRaw = amountInRaw - mulUp(amountInRaw, swapFee)
  const out = outGivenIn(scaled(into), scaled(outOf), netRaw * into.scale, squares)
  return out === undefined ? undefined : out / outOf.scale
}

/** The same, given out: the fee is added after scaling. */
export function amountIn({ into, outOf }: HoldingsAlong, { swapFee, squares }: WeightedState, amountOutRaw: bigint): bigint | undefined {
  const amount = inGivenOut(scaled(into), scaled(outOf), amountOutRaw * outOf.scale, squares)
  if (amount === undefined) return undefined
  const grossRaw = divUp(divideUp(amount, into.scale), complement(swapFee))
  return into.balanceRaw + grossRaw > mostBalanceRaw ? undefined : grossRaw
}
