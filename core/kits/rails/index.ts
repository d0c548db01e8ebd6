// What the rails of all chain families share, for kits.
export { createRemembered } from './remembered.ts'
export type { Remembered } from './remembered.ts'
export { amountOf, balanceTooSmall, fundsCommitted, gasTooDear, shortage } from '../../../kits/nodes/rails.ts'
