// "sluice/weighted": exchanges of weighted pools in a Vault.
export { weightedEvents } from './router.ts'
export { weighted } from './exchange.ts'
export type { WeightedOptions } from './exchange.ts'
