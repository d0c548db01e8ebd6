import { onPending } from './on-pending.ts'

/** Has a pending transaction do nothing. */
export const evmCancel = onPending('cancel')
