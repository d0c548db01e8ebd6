import type { Fill } from '../ledger/history.ts'

/** What a fill was to one of its sides. */
export type SideOfFill = Pick<Fill, 'startPosition' | 'dir' | 'closedPnl' | 'fee' | 'feeToken' | 'feeDecimals'>
