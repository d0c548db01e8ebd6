import type { History } from '../history.ts'
import { definiteErrors } from './definite-errors.ts'
import { idempotency } from './idempotency.ts'
import { inTime } from './in-time.ts'
import { knownOf, type IndexedHistory } from './known.ts'
import { nonces } from './nonces.ts'
import { oneEffect } from './one-effect.ts'
import { orders } from './orders.ts'
import { saidOf } from './said-of.ts'
import type { Violation } from './violation.ts'

type Judge = (known: IndexedHistory) => Violation[]

/**
 * Compares what the bots were told, what the journal has and what the chain did. Pure.
 * @param inTurn judges of I4: chains differ in what transactions take turns on
 */
export function checkHistory(history: History, inTurn: readonly Judge[] = [nonces]): Violation[] {
  const known = knownOf(history)
  return [oneEffect, orders, definiteErrors, idempotency, ...inTurn, saidOf, inTime].flatMap((judge) => judge(known))
}
