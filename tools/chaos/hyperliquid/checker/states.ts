import type { KeptOrder } from '../found.ts'

/** How an order is to be called that the exchange has. */
export function stateOf({ status, amount, filled }: Pick<KeptOrder, 'status' | 'amount' | 'filled'>): string {
  if (status.endsWith('Rejected')) return 'REJECTED'
  if (status === 'open') return Number(filled) > 0 ? 'PARTIALLY_FILLED' : 'OPEN'
  if (status === 'filled') return filled === amount ? 'FILLED' : 'CANCELED'
  return 'CANCELED'
}

/** Of an order that is not at the exchange. */
export const nowhere: ReadonlySet<string> = new Set(['FAILED', 'REJECTED'])

export const ends: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])
