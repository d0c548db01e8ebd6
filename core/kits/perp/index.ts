// "sluice/perp": exchanges of Perpetual Protocol v2's kind.
export { perpEvents } from './abi.ts'
export type { PerpOptions } from './options.ts'
export { perp } from './perp.ts'
export type { Perp } from './perp.ts'
export { perpRefusals } from './refusals.ts'
