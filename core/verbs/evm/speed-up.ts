import { onPending } from './on-pending.ts'

/** Raises the fees of a pending transaction. */
export const evmSpeedUp = onPending('speedUp')
