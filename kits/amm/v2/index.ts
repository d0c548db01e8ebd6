// "sluice/uniswap-v2": exchanges of constant-product pools.
export { getAmountIn, getAmountOut } from './math.ts'
export type { Fee } from './math.ts'
export type { UniswapV2Options } from './exchange.ts'
export type { Deployment } from '../../../core/kits/uniswap-v2/pairs.ts'
export { uniswapV2 } from '../../../core/kits/uniswap-v2/uniswap-v2.ts'
