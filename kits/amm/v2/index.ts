// "sluice/uniswap-v2": exchanges of constant-product pools.
export { getAmountIn, getAmountOut } from './math.ts'
export type { Fee } from './math.ts'
export type { UniswapV2Options } from './exchange.ts'
export type { Deployment } from './pools.ts'
export { uniswapV2 } from './exchange.ts'
