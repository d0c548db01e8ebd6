// "sluice/uniswap-v3": exchanges of concentrated liquidity.
export { v3Events } from '../../../core/kits/uniswap-v3/events.ts'
export type { Deployment, UniswapV3Options } from './exchange.ts'
export type { RouterKind } from '../../../core/kits/uniswap-v3/router/router-kinds.ts'
export { uniswapV3 } from '../../../core/kits/uniswap-v3/uniswap-v3.ts'
