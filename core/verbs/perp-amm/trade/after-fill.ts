import type { PerpAccount, PerpPosition, PerpQuote } from '../../../contracts/index.ts'
import { absolute, rescale, worth } from '../figures/figures.ts'
import type { Backing } from '../figures/liquidation-price.ts'

/** A position, and what backs it, as they are expected after an order is filled as quoted: at the mark price of before. */
export function afterFill(
  { order: { side, sizeRaw }, market, quoteRaw, prices: { mark } }: PerpQuote,
  before: PerpPosition,
  account: PerpAccount,
): { position: PerpPosition; account: Backing } {
  const [changeRaw, paidRaw] = side === 'LONG' ? [sizeRaw, -quoteRaw] : [-sizeRaw, quoteRaw]
  const afterRaw = before.sizeRaw + changeRaw
  const openNotionalRaw = notionalAfter(before, changeRaw, paidRaw)
  const worthAt = (raw: bigint) => worth(market, raw, mark)
  const inAccount = (raw: bigint) => rescale(raw, market.quoteDecimals, account.decimals)
  const heavierRaw = inAccount(absolute(worthAt(afterRaw)) - absolute(worthAt(before.sizeRaw)))
  const { numerator, denominator } = market.maintenanceRatio
  return {
    position: {
      market,
      mark,
      sizeRaw: afterRaw,
      openNotionalRaw,
      unrealizedProfitRaw: worthAt(afterRaw) + openNotionalRaw,
      // Whatever funding is pending is settled with every trade.
      pendingFundingRaw: 0n,
    },
    account: {
      decimals: account.decimals,
      // At the mark price a trade costs what it pays above it.
      valueRaw: account.valueRaw + inAccount(worthAt(changeRaw) + paidRaw),
      maintenanceMarginRaw: account.maintenanceMarginRaw + (heavierRaw * numerator) / denominator,
    },
  }
}

/** What the rest was opened for: a reduction takes the same part of it, and what goes beyond zero is opened at the new price. */
function notionalAfter({ sizeRaw, openNotionalRaw }: PerpPosition, changeRaw: bigint, paidRaw: bigint): bigint {
  const isReduction = sizeRaw !== 0n && sizeRaw > 0n !== changeRaw > 0n
  if (!isReduction) return openNotionalRaw + paidRaw
  const [before, change] = [absolute(sizeRaw), absolute(changeRaw)]
  if (change <= before) return (openNotionalRaw * (before - change)) / before
  return (paidRaw * (change - before)) / change
}
