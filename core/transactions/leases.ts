import type { Guard } from './journal/journal.ts'

/**
 * Which lanes this server owns. A lane has one owner at a time, everywhere; with every change of owner its fence rises by one.
 * A server that cannot renew its own life in time holds nothing, by its own clock, before another may take over.
 */
export interface Leases {
  /**
   * Runs work while this server owns the lane. Asks its owner for it where that is another one, and waits; keeps it afterwards until
   * another server asks. Several may use one lane at once; it is handed over when all of them have ended.
   * @throws Superseded, or the signal's reason, before `work` has begun
   */
  use<T>(lane: string, signal: AbortSignal, work: (guard: Guard) => Promise<T>): Promise<T>
  /** The hold on a lane that is ours now, without asking anybody. */
  held(lane: string): Guard | undefined
  /** Takes a lane whose owner is dead or which has none; undefined where it has a living owner. Ours already: as it is. */
  adopt(lane: string): Promise<Guard | undefined>
  /** Gives every lane back, so that others need not wait. After the last `use`. */
  stop(): Promise<void>
}
