import type { PerpAccount, PerpPosition, PerpQuote } from '../../../contracts/index.ts'
import { absolute, rescale, worth } from '../../../handlers/perp/figures.ts'
import type { Backing } from '../figures/liquidation-price.ts'

/** A position, and what backs it, as they are expected after an order is filled as quoted: at the mark price of before. */
export function afterFill(
  { order: { side, sizeRaw }, market, quoteRaw, prices: { mark }, after }: PerpQuote,
  before: PerpPosition,
  account: PerpAccount,
): { position: PerpPosition; account: Backing } {
  const [changeRaw, paidRaw] = side === 'LONG' ? [sizeRaw, -quoteRaw] : [-sizeRaw, quoteRaw]
  const { sizeRaw: afterRaw, openNotionalRaw } = after ?? inProportion(before, changeRaw, paidRaw)
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

/** A reduction takes the same part of what was paid, and what goes beyond zero is opened at the new price. */
function inProportion({ sizeRaw, openNotionalRaw }: PerpPosition, changeRaw: bigint, paidRaw: bigint) {
  const afterRaw = sizeRaw + changeRaw
  const isReduction = sizeRaw !== 0n && sizeRaw > 0n !== changeRaw > 0n
  if (!isReduction) return { sizeRaw: afterRaw, openNotionalRaw: openNotionalRaw + paidRaw }
  const [before, change] = [absolute(sizeRaw), absolute(changeRaw)]
  const rest = change <= before ? part(openNotionalRaw, before - change, before) : part(paidRaw, change - before, change)
  return { sizeRaw: afterRaw, openNotionalRaw: rest }
}

/** Rounded against the trader: paid more, received less. */
function part(raw: bigint, of: bigint, whole: bigint): bigint {
  const rounded = (raw * of) / whole
  return rounded * whole > raw * of ? rounded - 1n : rounded
}
