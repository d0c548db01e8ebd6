// "sluice/stable": exchanges of pools of coins that are meant to be worth the same.
export type { Coin, StablePool, StableSwapOptions } from './pools.ts'
export { stableEvents } from './exchange.ts'
export { stableSwap } from './exchange.ts'
