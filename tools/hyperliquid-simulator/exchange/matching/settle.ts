import { leverageOf, balanceOf, type Fill, type Position, type Account } from '../account.ts'
import { toRate, abs, ceilDiv, floorDiv, least, roundDiv, usdDecimals, usdValue, quoteWei, weiOfSize } from '../amounts.ts'
import type { Order } from '../book.ts'
import { accountOf, type Engine } from '../engine.ts'
import type { PerpMarket, SpotMarket } from '../listing.ts'
import { coverSpot } from '../margin/loans.ts'

/** What a fill was to one of its sides. */
export type SideOfFill = Pick<Fill, 'startPosition' | 'dir' | 'closedPnl' | 'fee' | 'feeToken' | 'feeDecimals'>

/** In 10^-12. */
export function feeRate({ rules: { fees } }: Engine, kind: 'spot' | 'perp', isTaker: boolean): bigint {
  if (kind === 'spot') return toRate(isTaker ? fees.spotCross : fees.spotAdd)
  return toRate(isTaker ? fees.cross : fees.add)
}

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

/** What a spot order takes of the token that it pays with, at a price. */
export const payOf = ({ base, quote }: SpotMarket, isBuy: boolean, px: bigint, sz: bigint) =>
  isBuy ? quoteWei(px, sz, quote.weiDecimals) : weiOfSize(sz, base.weiDecimals)

export const payToken = ({ base, quote }: SpotMarket, isBuy: boolean) => (isBuy ? quote : base)

/**
 * One side of a fill: it pays, gets, and a fee is kept of what it gets. The fee is reckoned in the quote, and what is less than a unit of it
 * is dropped, as was measured of the real one.
 */
export function settleSpot(engine: Engine, market: SpotMarket, order: Order, px: bigint, sz: bigint, isTaker: boolean): SideOfFill {
  const account = accountOf(engine, order.owner)
  const { isBuy } = order
  const [pays, gets] = isBuy ? [market.quote, market.base] : [market.base, market.quote]
  const gross = quoteWei(px, sz, market.quote.weiDecimals)
  const paid = payOf(market, isBuy, px, sz)
  release(account, pays.index, order, payOf(market, isBuy, order.limitPx, sz))
  coverSpot(engine, account, pays, paid)

  const from = balanceOf(account, pays.index)
  const startPosition = (balanceOf(account, market.base.index).total * 10n ** 8n) / 10n ** BigInt(market.base.weiDecimals)
  // Of what is sold, the part that it was got for.
  const basis = from.total === 0n ? 0n : (from.entryNtl * paid) / from.total
  from.total -= paid
  if (!isBuy) from.entryNtl -= basis

  const feeQuote = (gross * feeRate(engine, 'spot', isTaker)) / 10n ** 12n
  const fee = isBuy ? weiOfQuote(market, feeQuote, px) : feeQuote
  const into = balanceOf(account, gets.index)
  into.total += (isBuy ? weiOfSize(sz, market.base.weiDecimals) : gross) - fee
  if (isBuy) into.entryNtl += gross
  engine.fees.set(gets.index, (engine.fees.get(gets.index) ?? 0n) + fee)
  return {
    startPosition,
    dir: isBuy ? 'Buy' : 'Sell',
    closedPnl: isBuy ? 0n : gross - basis,
    fee,
    feeToken: gets.name,
    feeDecimals: gets.weiDecimals,
  }
}

/** Base for so much quote at a price, rounded down. */
const weiOfQuote = ({ base, quote }: SpotMarket, wei: bigint, px: bigint) =>
  (wei * 10n ** BigInt(8 + base.weiDecimals)) / (px * 10n ** BigInt(quote.weiDecimals))

/** Of what was held back for a resting order. */
function release(account: Account, token: number, order: Order, part: bigint) {
  const released = part < order.held ? part : order.held
  order.held -= released
  balanceOf(account, token).hold -= released
}
