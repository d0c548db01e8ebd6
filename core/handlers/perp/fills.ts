import type { Json, PerpFill, PerpOrder } from '../../contracts/index.ts'
import { fromRaw } from '../../decimal.ts'
import { fromSigned, priceIn, showRatio } from './figures.ts'
import { tickerOf } from './markets.ts'

/** What the journal keeps of a change of a position, so that its fill can be shown, and found by its market. */
interface AboutPosition {
  ticker: string
  side: 'LONG' | 'SHORT'
}

export const aboutPosition = ({ market, side }: PerpOrder): Json => ({ ticker: tickerOf(market), side })

/** Reads it back: the journal is this server's own, and its `kind` says what is in it. */
export const readAboutPosition = (about: Json): AboutPosition => about as unknown as AboutPosition

/** The price is rounded against optimism: up where it was paid, down where it was received. */
export function showPositionFill({ market, sizeRaw, quoteRaw, feeRaw, realizedProfitRaw, closedRatio }: PerpFill, about: Json) {
  const { side } = readAboutPosition(about)
  return {
    size: fromRaw(sizeRaw, market.baseDecimals),
    price: showRatio(priceIn(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down'),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    realizedProfit: fromSigned(realizedProfitRaw, market.quoteDecimals),
    ...(closedRatio && { closedRatio: showRatio(closedRatio, 'down') }),
  }
}
