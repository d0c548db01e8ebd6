// "sluice/weighted": exchanges of weighted pools in a Vault.
export { weightedEvents } from './vault/vault-abi.ts'
export { weighted } from './weighted.ts'
export type { WeightedOptions } from './weighted.ts'
