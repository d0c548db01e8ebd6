// What the exchange liquidated of a wallet's perpetuals, by the wallet's fills: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
import { SluiceError, type At, type BookTrade } from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { maxFills, nameOf, timed } from './known-fills.ts'
import type { Listing } from './markets.ts'
import { fill, toBookTrade } from './orders.ts'
import { anything, array, integer, is, object, shape, text, unread, withUnread } from './shape.ts'

/** Each is checked by itself. */
const list = shape(array(anything))
const numbered = object({ oid: integer, tid: integer, time: integer })
/** Those who took the other side of it have it in their fills, too. */
const liquidation = object({ liquidation: object({ liquidatedUser: text }) })

/** The exchange has no older fills of a wallet: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint */
const mostFills = 10_000

interface LiquidationsQuery {
  /** In lower case. */
  readonly user: string
  readonly from: number
  readonly before: number | undefined
}

/** Newest first. @throws SluiceError UNSUPPORTED where the exchange may not have all fills since then */
export async function readLiquidations(
  queryInfo: QueryInfo,
  { byId }: Listing,
  { user, from, before }: LiquidationsQuery,
  at: At,
): Promise<readonly BookTrade[]> {
  const found: BookTrade[] = []
  const missing: BookTrade[] = []
  for (const each of await readSince(queryInfo, { user, from, before }, at)) {
    if (typeof each === 'object' && each !== null && !('liquidation' in each)) continue
    const name = is(numbered, each) ? String(each.tid) : `fill ${missing.length}`
    if (!is(liquidation, each)) missing.push(unread<BookTrade>({ tradeId: name }))
    else if (each.liquidation.liquidatedUser.toLowerCase() === user) {
      const whole = is(fill, each) ? each : undefined
      const entry = whole && byId.get(whole.coin)
      if (!entry) missing.push(unread<BookTrade>({ tradeId: name }))
      // Of a margin account it also sells collateral.
      else if (entry.kind === 'perp') found.push(toBookTrade(whole, entry.market))
    }
  }
  return withUnread(
    found.toSorted((one, other) => other.timestamp - one.timestamp),
    missing,
    'userFillsByTime',
  )
}

/** The exchange gives the oldest first, at most so many at a time. */
async function readSince(queryInfo: QueryInfo, { user, from, before }: LiquidationsQuery, at: At): Promise<Iterable<unknown>> {
  const all = new Map<string, unknown>()
  for (let startTime = from; ;) {
    const request = { type: 'userFillsByTime', user, startTime, ...(before !== undefined && { endTime: before - 1 }) }
    const page = await queryInfo(request, list, at)
    for (const each of page) all.set(nameOf(each), each)
    const last = Math.max(...page.map((each) => (is(timed, each) ? each.time : 0)))
    if (all.size >= mostFills || (page.length >= maxFills && last <= startTime))
      throw new SluiceError('UNSUPPORTED', `Hyperliquid has no more than the ${mostFills} newest fills of ${user}: read a shorter time.`)
    if (page.length < maxFills) return all.values()
    startTime = last
  }
}
