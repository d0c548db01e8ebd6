import { quoteWei, weiOfSize } from '../amounts/units.ts'
import { accountOf, type Engine } from '../engine.ts'
import { balanceOf, type Account } from '../ledger/account.ts'
import type { SpotMarket } from '../listing/listing.ts'
import { coverSpot } from '../lending/cover-spot.ts'
import type { Order } from '../book/order.ts'
import { feeRate } from './fee-rate.ts'
import type { SideOfFill } from './settled.ts'

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
