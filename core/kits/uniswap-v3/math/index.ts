// The mathematics of concentrated liquidity: pure, in bigint, equal to the contracts' libraries to the unit.
export { mulDiv, mulDivRoundingUp } from './full-math.ts'
export { getAmountsForLiquidity, getLiquidityForAmount0, getLiquidityForAmount1, getLiquidityForAmounts } from './liquidity-amounts.ts'
export { getAmount0Delta, getAmount1Delta } from './sqrt-price-math.ts'
export { outBetween, paidBetween, stepIn, stepOut, wholeFeePips, withoutFee } from './swap-math.ts'
export type { SwapStep } from './swap-math.ts'
export { getSqrtRatioAtTick, getTickAtSqrtRatio, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick } from '../../../../kits/amm/v3/math.ts'
