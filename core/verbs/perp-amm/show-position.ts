import type { PerpAccount, PerpPosition, Ratio } from '../../contracts/index.ts'
import { fromRaw } from '../amounts.ts'
import { absolute, fromSigned, priceIn, rescale, showQuotient, showRatio, worth } from './figures.ts'
import { tickerOf } from './market.ts'

/** A position in its wallet's account, both at one block. */
export function showPosition({ market, sizeRaw, ...position }: PerpPosition, account: PerpAccount) {
  const { quoteDecimals, baseDecimals } = market
  const isShort = sizeRaw < 0n
  const notionalRaw = rescale(absolute(worth(market, sizeRaw, position.mark)), quoteDecimals, account.decimals)
  const liquidation = liquidationPrice({ market, sizeRaw, ...position }, account)
  return {
    positionAmt: sizeRaw === 0n ? '0' : fromRaw(absolute(sizeRaw), baseDecimals),
    positionSide: isShort ? ('SHORT' as const) : ('LONG' as const),
    unrealizedProfit: fromSigned(position.unrealizedProfitRaw, quoteDecimals),
    leverage: showQuotient(notionalRaw, account.valueRaw, 'up'),
    entryPrice: sizeRaw === 0n ? '0' : showRatio(priceIn(market, position.openNotionalRaw, sizeRaw), isShort ? 'down' : 'up'),
    markPrice: showRatio(position.mark, 'down'),
    // Against optimism: it is met a little earlier than is true.
    liquidationPrice: liquidation ? showRatio(liquidation, isShort ? 'down' : 'up') : '0',
    tickerSymbol: tickerOf(market),
    pendingFundingPayment: fromSigned(position.pendingFundingRaw, quoteDecimals),
  }
}

/**
 * Where the account is worth no more than its maintenance margin: value + size·(p − mark) = margin + ratio·|size|·(p − mark), the
 * other positions unchanged. Undefined without a position, and where no price above 0 would do.
 */
export function liquidationPrice({ market, sizeRaw, mark }: PerpPosition, account: PerpAccount): Ratio | undefined {
  if (sizeRaw === 0n) return undefined
  const { numerator: part, denominator: whole } = market.maintenanceRatio
  // In base, times `whole`: how fast what is spare goes as the price falls.
  const slope = sizeRaw * whole - part * absolute(sizeRaw)
  const spareRaw = account.valueRaw - account.maintenanceMarginRaw
  const numerator =
    mark.numerator * slope * 10n ** BigInt(account.decimals) - spareRaw * whole * mark.denominator * 10n ** BigInt(market.baseDecimals)
  const denominator = mark.denominator * slope * 10n ** BigInt(account.decimals)
  if (denominator === 0n) return undefined
  const price = denominator > 0n ? { numerator, denominator } : { numerator: -numerator, denominator: -denominator }
  return price.numerator > 0n ? price : undefined
}
