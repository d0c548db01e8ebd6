// "sluice/uniswap-v3": exchanges of concentrated liquidity.
export { v3Events } from './exchange.ts'
export type { Deployment, UniswapV3Options } from './exchange.ts'
export type { RouterKind } from './router.ts'
export { uniswapV3 } from './exchange.ts'
