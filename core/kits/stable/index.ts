// "sluice/stable": exchanges of pools of coins that are meant to be worth the same.
export type { Coin, StablePool, StableSwapOptions } from './exchange.ts'
export { stableEvents } from './events.ts'
export { stableSwap } from './stable-swap.ts'
