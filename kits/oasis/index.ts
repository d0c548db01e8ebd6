// "sluice/oasis": fully on-chain matching markets of the kind that Maker's Oasis is.
export { oasisEvents } from './contract.ts'
export { oasis } from './oasis.ts'
export type { Oasis } from './oasis.ts'
export type { OasisOptions } from './contract.ts'
export { oasisRefusals } from './contract.ts'
