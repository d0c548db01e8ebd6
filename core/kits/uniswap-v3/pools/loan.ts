import { lender, trialAmount, type Loan, type Pool } from '../../../../kits/amm/index.ts'
import { heldNearby } from './held-nearby.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { highestPriceX96, lowestPriceX96 } from './swap-path.ts'
import { swap } from '../../../../kits/amm/v3/swap.ts'

// UniswapV3Pool of @uniswap/v3-core@1.0.1: what comes out is sent before what goes in is asked for. Its flash would need
// liquidity in range, which a pool can do without to be traded with.
const borrow = lender({
  lends: 'swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)',
  recipient: 0,
})

/** A pool lends what it sells. */
export function loanOf({ address, tokens, state }: Pool<RangePoolState>, token: string): Loan | undefined {
  const zeroForOne = token === tokens[1]
  const sentRaw = trialAmount(heldNearby(state, zeroForOne))
  if (sentRaw === undefined) return undefined
  const sold = swap(state, zeroForOne, 'out', sentRaw)
  if (!sold || 'atBestRaw' in sold) return undefined
  return borrow(address, token, sentRaw, [zeroForOne, -sentRaw, zeroForOne ? lowestPriceX96 : highestPriceX96, '0x'])
}
