// "sluice/oasis": fully on-chain matching markets of the kind that Maker's Oasis is.
export { oasisEvents } from '../../core/kits/oasis/abi.ts'
export { oasis } from './oasis.ts'
export type { Oasis } from './oasis.ts'
export type { OasisOptions } from '../../core/kits/oasis/options.ts'
export { oasisRefusals } from '../../core/kits/oasis/refusals.ts'
