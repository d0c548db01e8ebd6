import type { Entry } from '../entry.ts'
import type { ClientOrder } from '../book-orders.ts'
import type { Guard, KeptAnswer, KeyClaim } from './journal.ts'
import { Superseded } from './superseded.ts'

/** How a kind of database keeps entries: with what it checks, all or nothing. */
export interface JournalWriter {
  /** @throws OrderTaken */
  open(entries: readonly Entry[], guard: Guard, claim: KeyClaim | undefined, orders: readonly ClientOrder[]): Promise<void>
  write(entries: readonly Entry[], guard: Guard, answer: KeptAnswer | undefined): Promise<boolean>
}

/** @throws Superseded where the lane or the key is not this server's, or this call's, any more */
export function checkHolds({ ownsLane, ownsKey }: { ownsLane: boolean; ownsKey: boolean }): void {
  if (!ownsLane) throw new Superseded('Another server has taken the wallet over.')
  if (!ownsKey) throw new Superseded('Another call with the same Idempotency-Key has taken over.', { lost: 'key' })
}
