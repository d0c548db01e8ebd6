import { ceilDiv, refuse } from '../swap-quote.ts'
import type { DammPool } from './accounts.ts'

/**
 * One curve between two prices, in Q64.64, and liquidity that is scaled by 2^64 too: math/liquidity/concentratedLiquidity.ts. Prices move against
 * who trades: up from what is paid in the second token, down from the first, each rounded towards the pool.
 */

/** What comes out of the curve for exactly what goes in, before and after fees on either side. */
export function curveOut(pool: DammPool, pays: 0 | 1, inRaw: bigint): bigint {
  if (pool.feeMode === 'compounding') return productOut(pool, pays, inRaw)
  const { liquidity, sqrtPrices } = pool
  const { now } = sqrtPrices
  if (liquidity <= 0n || now <= 0n) refuse('no-reserves')
  if (pays === 0) {
    const next = ceilDiv(liquidity * now, liquidity + inRaw * now)
    if (next < sqrtPrices.min) refuse('too-much')
    return (liquidity * (now - next)) >> 128n
  }
  const next = now + (inRaw << 128n) / liquidity
  if (next > sqrtPrices.max) refuse('too-much')
  return (liquidity * (next - now)) / (now * next)
}

/** What the curve needs so that exactly this comes out. */
export function curveIn(pool: DammPool, pays: 0 | 1, outRaw: bigint): bigint {
  if (pool.feeMode === 'compounding') return productIn(pool, pays, outRaw)
  const { liquidity, sqrtPrices } = pool
  const { now } = sqrtPrices
  if (liquidity <= 0n || now <= 0n) refuse('no-reserves')
  if (pays === 0) {
    const next = now - ceilDiv(outRaw << 128n, liquidity)
    if (next <= 0n || next < sqrtPrices.min) refuse('too-much')
    return ceilDiv(liquidity * (now - next), now * next)
  }
  const left = liquidity - outRaw * now
  if (left <= 0n) refuse('too-much')
  const next = ceilDiv(liquidity * now, left)
  if (next > sqrtPrices.max) refuse('too-much')
  return ceilDiv(liquidity * (next - now), 1n << 128n)
}

/** x · y is constant in a pool whose fees stay in it: math/liquidity/compoundingLiquidity.ts. */
function productOut({ amountsRaw }: DammPool, pays: 0 | 1, inRaw: bigint): bigint {
  const [from, to] = sidesOf(amountsRaw, pays)
  return (to * inRaw) / (from + inRaw)
}

function productIn({ amountsRaw }: DammPool, pays: 0 | 1, outRaw: bigint): bigint {
  const [from, to] = sidesOf(amountsRaw, pays)
  if (outRaw >= to) refuse('too-much')
  return ceilDiv(from * outRaw, to - outRaw)
}

/** What is paid into, and what is taken from. With an empty side there is no price. */
function sidesOf([first, second]: DammPool['amountsRaw'], pays: 0 | 1): DammPool['amountsRaw'] {
  if (first === 0n || second === 0n) refuse('no-reserves')
  return pays === 0 ? [first, second] : [second, first]
}
