// "sluice/uniswap-v2": exchanges of constant-product pools.
export { getAmountIn, getAmountOut } from './amounts.ts'
export type { Fee } from './amounts.ts'
export type { UniswapV2Options } from './exchange.ts'
export type { Deployment } from './pairs.ts'
export { uniswapV2 } from './uniswap-v2.ts'
