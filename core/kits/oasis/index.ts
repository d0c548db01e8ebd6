// "sluice/oasis": fully on-chain matching markets of the kind that Maker's Oasis is.
export { oasisEvents } from './abi.ts'
export { oasis } from './oasis.ts'
export type { Oasis } from './oasis.ts'
export type { OasisOptions } from './options.ts'
export { oasisRefusals } from './refusals.ts'
