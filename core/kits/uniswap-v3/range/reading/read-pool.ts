import type { RangePool } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../../../kits/evm/types.ts'
import { priceOf } from '../../../../../kits/amm/v3/range-prices.ts'
import { poolAbi } from '../../../../../kits/amm/v3/position-manager.ts'
import { signed, wordsOf } from './words.ts'

export type PoolKey = Pick<RangePool, 'address' | 'token0' | 'token1' | 'fee' | 'version'>

const data = (['slot0', 'liquidity', 'tickSpacing'] as const).map((view) => poolAbi.encodeFunctionData(view))
export const callsOfPool = data.length

export function poolCalls(address: string): readonly Call[] {
  return data.map((each) => ({ to: address, data: each }))
}

/** Undefined where there is no pool, or none that has a price yet. */
export function readPool(key: PoolKey, [slot0, liquidity, tickSpacing]: readonly CallResult[]): RangePool | undefined {
  const [sqrtPriceX96, tick] = wordsOf(slot0, 2) ?? []
  const [inRange] = wordsOf(liquidity, 1) ?? []
  const [spacing] = wordsOf(tickSpacing, 1) ?? []
  if (!sqrtPriceX96 || tick === undefined || inRange === undefined || spacing === undefined) return undefined
  return {
    ...key,
    tickSpacing: Number(signed(spacing)),
    sqrtPriceX96,
    tick: Number(signed(tick)),
    liquidity: inRange,
    price: priceOf(sqrtPriceX96),
  }
}
