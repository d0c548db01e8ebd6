import type { Wire } from './read-wire.ts'

/** What was sent and is in no block yet. */
export interface PendingTransaction {
  wire: Wire
  /** How often the node sends it again by itself when a leader did not take it. */
  retries: number
  /** Blocks in which it could have been and was not. */
  missed: number
}

/** What a leader does with a transaction that it could take: nobody is told of those it drops. */
export type Leader = (waiting: PendingTransaction) => 'takes' | 'drops' | 'holds'

export const takesAll: Leader = () => 'takes'
export const dropsAll: Leader = () => 'drops'
export const holdsAll: Leader = () => 'holds'
/** Takes each some blocks after it could. */
export const takesAfter =
  (blocks: number): Leader =>
  ({ missed }) =>
    missed < blocks ? 'holds' : 'takes'
