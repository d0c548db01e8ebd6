// "sluice/uniswap-v3": exchanges of concentrated liquidity.
export { v3Events } from './events.ts'
export type { Deployment, UniswapV3Options } from './exchange.ts'
export type { RouterKind } from './router/router-kinds.ts'
export { uniswapV3 } from './uniswap-v3.ts'
