import type { PerpPosition } from '../../../contracts/index.ts'
import { fromRaw } from '../../../decimal.ts'
import { tickerOf } from '../../../handlers/perp/markets.ts'
import { absolute, fromSigned, priceIn, rescale, showLeverage, showRatio, worth } from '../../../handlers/perp/figures.ts'
import { liquidationPrice, type Backing } from './liquidation-price.ts'

/** A position in its wallet's account, both at one block. Rounded against optimism: as bought dearer, sold cheaper, and lost earlier. */
export function showPosition(position: PerpPosition, account: Backing) {
  const { market, sizeRaw, openNotionalRaw, mark } = position
  const { quoteDecimals, baseDecimals } = market
  const isShort = sizeRaw < 0n
  const rounding = isShort ? 'down' : 'up'
  const notionalRaw = rescale(absolute(worth(market, sizeRaw, mark)), quoteDecimals, account.decimals)
  const liquidation = liquidationPrice(position, account)
  return {
    positionAmt: sizeRaw === 0n ? '0' : fromRaw(absolute(sizeRaw), baseDecimals),
    positionSide: isShort ? ('SHORT' as const) : ('LONG' as const),
    unrealizedProfit: fromSigned(position.unrealizedProfitRaw, quoteDecimals),
    leverage: showLeverage(notionalRaw, account.valueRaw),
    entryPrice: sizeRaw === 0n ? '0' : showRatio(priceIn(market, openNotionalRaw, sizeRaw), rounding),
    markPrice: showRatio(mark, 'down'),
    liquidationPrice: liquidation ? showRatio(liquidation, rounding) : '0',
    tickerSymbol: tickerOf(market),
    pendingFundingPayment: fromSigned(position.pendingFundingRaw, quoteDecimals),
  }
}
