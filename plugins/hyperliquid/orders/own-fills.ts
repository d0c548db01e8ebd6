import type { At } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare } from '../decimal.ts'
import { fills } from './order-answers.ts'
import type { WireFill, WireJudgedOrder } from './order-answers.ts'
import { needsFills, toldOf } from './order-state.ts'

/** So many the exchange tells at once, the newest: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint */
const mostAtOnce = 2000
/** Of those before, it is asked for so many orders' by themselves. */
const mostAskedSingly = 8

/** The fills of an order; undefined where what was filled of it is told by them alone, and the exchange tells them no more. */
export type FillsOf = (order: WireJudgedOrder) => readonly WireFill[] | undefined

/** @param singly whether those that the newest do not have are worth a question each */
export async function readOwnFills(ask: Ask, user: string, orders: readonly WireJudgedOrder[], singly: boolean, at: At): Promise<FillsOf> {
  // Most of what traded nothing needs no fills.
  if (!orders.some((each) => compare(toldOf(each).filledAmount, '0') > 0)) return () => []
  const newest = await ask({ type: 'userFills', user }, fills, at)
  const since = newest.length < mostAtOnce ? -Infinity : Math.min(...newest.map(({ time }) => time))
  const older = orders.filter((each) => needsFills(each) && each.order.timestamp <= since)
  const asked = await Promise.all(
    older.slice(0, singly ? mostAskedSingly : 0).map(async ({ order: { oid, timestamp }, statusTimestamp }) => {
      const question = { type: 'userFillsByTime', user, startTime: timestamp, endTime: Math.max(timestamp, statusTimestamp) }
      return [oid, await ask(question, fills, at)] as const
    }),
  )
  const doubtful = new Map([...older.map(({ order: { oid } }) => [oid, []] as const), ...asked])
  return ({ order: { oid } }) => {
    const own = (doubtful.get(oid) ?? newest).filter((fill) => fill.oid === oid)
    return own.length === 0 && doubtful.has(oid) ? undefined : own
  }
}
