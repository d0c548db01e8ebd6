import type { History } from '../history.ts'
import { definiteErrors } from './definite-errors.ts'
import { idempotency } from './idempotency.ts'
import { inTime } from './in-time.ts'
import { knownOf } from './known.ts'
import { nonces } from './nonces.ts'
import { oneEffect } from './one-effect.ts'
import { saidOf } from './said-of.ts'
import type { Violation } from './violation.ts'

/** Compares what the bots were told, what the journal has and what the chain did. Pure. */
export function checkHistory(history: History): Violation[] {
  const known = knownOf(history)
  return [oneEffect, definiteErrors, idempotency, nonces, saidOf, inTime].flatMap((judge) => judge(known))
}
