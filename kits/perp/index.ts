// "sluice/perp": exchanges of Perpetual Protocol v2's kind.
export { perpEvents } from './abi.ts'
export type { PerpOptions } from '../../core/kits/perp/options.ts'
export { perp } from './perp.ts'
export type { Perp } from './perp.ts'
export { perpRefusals } from '../../core/kits/perp/refusals.ts'
