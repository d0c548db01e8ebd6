import type { PerpAccount, PerpPosition, PerpQuote } from '../../contracts/index.ts'
import { absolute, rescale, worth } from './figures.ts'

/** A position, and the account that it is in, as they are expected after an order is filled as quoted. */
export function afterFill(
  { order: { side, sizeRaw }, market, quoteRaw, prices: { mark } }: PerpQuote,
  before: PerpPosition,
  account: PerpAccount,
): { position: PerpPosition; account: PerpAccount } {
  const changeRaw = side === 'LONG' ? sizeRaw : -sizeRaw
  const paidRaw = side === 'LONG' ? -quoteRaw : quoteRaw
  const afterRaw = before.sizeRaw + changeRaw
  const openNotionalRaw = notionalAfter(before, changeRaw, paidRaw)
  const position = {
    ...before,
    market,
    mark,
    sizeRaw: afterRaw,
    openNotionalRaw,
    unrealizedProfitRaw: worth(market, afterRaw, mark) + openNotionalRaw,
    // Whatever funding is pending is settled with every trade.
    pendingFundingRaw: 0n,
  }
  const inAccount = (raw: bigint) => rescale(raw, market.quoteDecimals, account.decimals)
  const heavierRaw = inAccount(absolute(worth(market, afterRaw, mark)) - absolute(worth(market, before.sizeRaw, mark)))
  const { numerator, denominator } = market.maintenanceRatio
  return {
    position,
    account: {
      ...account,
      // At the mark price a trade costs what it pays above it.
      valueRaw: account.valueRaw + inAccount(worth(market, changeRaw, mark) + paidRaw),
      notionalRaw: account.notionalRaw + heavierRaw,
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
