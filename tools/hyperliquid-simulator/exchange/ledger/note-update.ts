import type { Engine } from '../engine.ts'
import type { Account } from './account.ts'
import type { LedgerUpdate } from './history.ts'

/** Writes into an account's history what came to it or left it. */
export function noteUpdate(engine: Engine, account: Account, delta: LedgerUpdate['delta']) {
  const update: LedgerUpdate = { time: engine.clock.now(), hash: engine.nextHash(), delta }
  account.updates.push(update)
  engine.outbox.updates.push({ user: account.address, update })
  engine.outbox.users.add(account.address)
}
