import type { Transaction } from '../contracts/index.ts'
import type { Entry } from './entry.ts'

/** -1 certain never to be mined, 0 accepted by the server, 1 mined, 2 pending and pays enough, 3 pending and pays too little. */
export type TxStatus = -1 | 0 | 1 | 2 | 3

/**
 * The number that `/network/poll` shows of a journaled transaction.
 * @param found what the chain has of it now, where that was asked
 */
export function txStatus({ state, landed, replacedBy, seen }: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus {
  if (landed || found?.blockNumber !== undefined) return 1
  if (state === 'REPLACED' || state === 'CANCELLED' || state === 'DROPPED' || state === 'EXPIRED') return -1
  // Whatever took its place is not final, so it may still be mined.
  if (replacedBy !== undefined || seen === 'lost') return 3
  if (found) return found.pays === false ? 3 : 2
  if (seen === undefined) return 0
  return seen === 'pays' ? 2 : 3
}
