import { abs, ceilDiv, floorDiv, least, roundDiv } from '../amounts/decimals.ts'
import { usdDecimals, usdValue } from '../amounts/units.ts'
import { accountOf, type Engine } from '../engine.ts'
import { leverageOf, type Position } from '../ledger/account.ts'
import type { PerpMarket } from '../listing/listing.ts'
import type { Order } from '../book/order.ts'
import { feeRate } from './fee-rate.ts'
import type { SideOfFill } from './settled.ts'

/**
 * One side of a fill. US dollars go to and from where the position's margin is: what is bought is owed, what is sold is there, so that the
 * position's worth makes up for it. Closing an isolated position gives back its part of the margin.
 */
export function settlePerp(engine: Engine, market: PerpMarket, order: Order, px: bigint, sz: bigint, isTaker: boolean): SideOfFill {
  const account = accountOf(engine, order.owner)
  const { isCross, value: leverage } = leverageOf(account, market)
  const known = account.positions.get(market.coin)
  const position: Position = known ?? {
    market,
    szi: 0n,
    entryNtl: 0n,
    funding: { allTime: 0n, sinceOpen: 0n, sinceChange: 0n },
    ...(isCross ? {} : { isolatedUsd: 0n }),
  }
  if (!known) account.positions.set(market.coin, position)
  const start = position.szi
  const change = order.isBuy ? sz : -sz
  const closed = start < 0n === change < 0n ? 0n : least(abs(start), sz)
  const opened = sz - closed
  const fee = (usdValue(px, sz) * feeRate(engine, 'perp', isTaker)) / 10n ** 12n
  const isolated = position.isolatedUsd !== undefined
  const put = (usd: bigint) => {
    if (isolated) position.isolatedUsd = (position.isolatedUsd ?? 0n) + usd
    else account.crossUsd += usd
  }
  const give = (usd: bigint) => {
    put(-usd)
    account.crossUsd += usd
  }

  let profit = 0n
  if (closed > 0n) {
    const entry = closed === abs(start) ? position.entryNtl : roundDiv(position.entryNtl * closed, abs(start))
    const worth = usdValue(px, closed)
    profit = start > 0n ? worth - entry : entry - worth
    if (isolated) {
      const behind = (position.isolatedUsd ?? 0n) + usdValue(px, start)
      give(closed === abs(start) ? behind : floorDiv(behind * closed, abs(start)))
    }
    put(start > 0n ? worth : -worth)
    position.entryNtl -= entry
    position.szi += start > 0n ? -closed : closed
  }
  if (opened > 0n) {
    const worth = usdValue(px, opened)
    if (isolated) give(-ceilDiv(worth, BigInt(leverage)))
    put(change > 0n ? -worth : worth)
    position.entryNtl += worth
    position.szi += change > 0n ? opened : -opened
    if (closed > 0n) position.funding.sinceOpen = 0n
  }
  position.funding.sinceChange = 0n
  if (position.szi === 0n) {
    account.positions.delete(market.coin)
    account.crossUsd -= fee
  } else put(-fee)
  engine.feesUsd += fee
  return {
    startPosition: start,
    dir: directionOf(start, change, closed, opened),
    closedPnl: profit * 10n ** BigInt(8 - usdDecimals),
    fee,
    feeToken: 'USDC',
    feeDecimals: usdDecimals,
  }
}

function directionOf(start: bigint, change: bigint, closed: bigint, opened: bigint): string {
  if (closed > 0n && opened > 0n) return start > 0n ? 'Long > Short' : 'Short > Long'
  if (closed > 0n) return start > 0n ? 'Close Long' : 'Close Short'
  return change > 0n ? 'Open Long' : 'Open Short'
}
