import type { Engine } from './engine.ts'
import { accrueHour } from './lending/interest.ts'
import { liquidate } from './margin/liquidate.ts'
import { payFunding } from './margin/funding.ts'
import { endOrder } from './matching/cancel.ts'

const hourMs = 3_600_000

/** Does what had its time since it was asked last, in its order. */
export function catchUp(engine: Engine) {
  const now = engine.clock.now()
  const hours: number[] = []
  for (let hour = Math.floor(engine.doneUpTo / hourMs) + 1; hour * hourMs <= now; hour++) hours.push(hour * hourMs)
  engine.doneUpTo = now
  for (const hour of hours) {
    payFunding(engine, hour)
    accrueHour(engine, hour)
    liquidate(engine)
  }
  for (const account of engine.accounts.values()) {
    if (account.cancelAllAt === undefined || account.cancelAllAt > now) continue
    account.cancelAllAt = undefined
    for (const order of account.open.values()) endOrder(engine, order, 'scheduledCancel')
  }
  for (const withdrawal of engine.withdrawals) withdrawal.left ||= withdrawal.leavesAt <= now
}
