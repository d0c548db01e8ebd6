import type { Json, RangeFill } from '../../../contracts/index.ts'
import { fromRaw } from '../../../decimal.ts'
import { reorder, type OrderedPair } from './pair.ts'

/** What the journal keeps of a change of liquidity, so that its fill can be shown in the order of tokens that the caller knows. */
interface AboutLiquidity {
  reversed: boolean
  decimals: readonly [number, number]
}

export const aboutLiquidity = ({ pair: [token0, token1], reversed }: OrderedPair): Json => ({
  reversed,
  decimals: [token0.decimals, token1.decimals],
})

/** @param about what `aboutLiquidity` made: the journal is this server's own, and its `kind` says what is in it */
export function showLiquidityFill(fill: RangeFill, about: Json) {
  const { reversed, decimals } = about as unknown as AboutLiquidity
  const { amount0Raw, amount1Raw } = reorder({ reversed }, fill)
  return {
    tokenId: fill.tokenId.toString(),
    liquidity: fill.liquidity.toString(),
    amount0: fromRaw(amount0Raw, decimals[0]),
    amount1: fromRaw(amount1Raw, decimals[1]),
  }
}
