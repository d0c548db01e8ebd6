// "sluice/perp": exchanges of Perpetual Protocol v2's kind.
export { perpEvents } from './abi.ts'
export type { PerpOptions } from './curie.ts'
export { perp } from './perp.ts'
export type { Perp } from './perp.ts'
export { perpRefusals } from './abi.ts'
