import { divRoundingUp } from '../../uniswap-v3/math/full-math.ts'
import { withoutFee } from '../../uniswap-v3/math/swap-math.ts'
import type { RangePoolState } from '../../uniswap-v3/pools/range-pool-state.ts'
import { swap, type Beyond, type Swapped } from '../../../../kits/amm/v3/swap.ts'
import { wholeRatio } from '../../../../kits/perp/curie.ts'

/** In millionths: of the exchange, as it is for the trader, and of the pool, which the exchange cancels out. */
export interface FeeRatios {
  readonly exchange: bigint
  readonly pool: bigint
}

export interface Exchanged extends Omit<Swapped, 'amountRaw'> {
  /** Paid (LONG) or received (SHORT), with the fee: what bounds are compared with. */
  readonly quoteRaw: bigint
  readonly feeRaw: bigint
  /** Of the pool, where the swap ends. */
  readonly sqrtPriceAfterX96: bigint
}

/**
 * What the exchange makes of a size of base: Exchange._swap and OrderBook.replaySwap of @perp/curie-contract@2.8.4. The pool takes a fee
 * of its own, which is given back by scaling; the exchange's is taken of each of the pool's steps, and rounded up each time.
 */
export function exchangeSize(
  state: RangePoolState,
  side: 'LONG' | 'SHORT',
  sizeRaw: bigint,
  fees: FeeRatios,
): Exchanged | Beyond | undefined {
  const withoutPool = wholeRatio - fees.pool
  let feeRaw = 0n
  let sqrtPriceAfterX96 = state.sqrtPriceX96
  if (side === 'SHORT') {
    // Base is token0, always (MarketRegistry.addPool).
    const swapped = swap(state, true, 'in', divRoundingUp(sizeRaw * wholeRatio, withoutPool), ({ outRaw, sqrtRatioNextX96 }) => {
      feeRaw += divRoundingUp(outRaw * fees.exchange, wholeRatio)
      sqrtPriceAfterX96 = sqrtRatioNextX96
    })
    if (!swapped || 'atBestRaw' in swapped) return swapped
    const { amountRaw, ...way } = swapped
    return { ...way, quoteRaw: amountRaw - feeRaw, feeRaw, sqrtPriceAfterX96 }
  }
  const swapped = swap(state, false, 'out', sizeRaw, ({ paidRaw, sqrtRatioNextX96 }) => {
    feeRaw += divRoundingUp(withoutFee(paidRaw, BigInt(state.fee)) * fees.exchange, wholeRatio - fees.exchange)
    sqrtPriceAfterX96 = sqrtRatioNextX96
  })
  if (!swapped || 'atBestRaw' in swapped) return swapped
  const { amountRaw, ...way } = swapped
  return { ...way, quoteRaw: (amountRaw * withoutPool) / wholeRatio + feeRaw, feeRaw, sqrtPriceAfterX96 }
}
