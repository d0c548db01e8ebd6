import type { BookMarket, BookOrder, OrderState } from '../../../contracts/index.ts'
import { amountText } from '../../../../kits/oasis/decimal.ts'
import { priceOf, shownBy } from '../books/state.ts'
import { lockedOf, sumOf, type OwnOffer } from '../../../../kits/oasis/own-orders.ts'

/** An offer as the order that it came of, as far as the chain tells: its price is that of what was left to offer. */
export function orderOf(offer: OwnOffer, market: BookMarket): BookOrder {
  const { id, pair, side, baseRaw, quoteRaw, atOnce, takes, killed, createdAt, txHash } = offer
  const fills = [...atOnce, ...takes]
  const filledRaw = sumOf(fills, 'baseRaw')
  const { decimals } = pair.base
  return {
    orderId: id,
    ...(txHash !== undefined && { txHash }),
    market,
    side: side === 'sells' ? 'SELL' : 'BUY',
    orderType: 'LIMIT',
    price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]),
    amount: amountText(baseRaw + sumOf(atOnce, 'baseRaw'), decimals),
    filledAmount: amountText(filledRaw, decimals),
    // Rounded against the owner.
    ...(filledRaw > 0n && { averagePrice: priceOf(pair, sumOf(fills, 'quoteRaw'), filledRaw, side === 'sells' ? 'down' : 'up') }),
    state: stateOf(offer, filledRaw),
    createdAt,
    updatedAt: Math.max(createdAt, ...[...takes, ...(killed ? [killed] : [])].map(({ timestamp }) => timestamp)),
  }
}

function stateOf(offer: OwnOffer, filledRaw: bigint): OrderState {
  if (offer.killed) return 'CANCELED'
  if (lockedOf(offer) === 0n) return 'FILLED'
  return filledRaw > 0n ? 'PARTIALLY_FILLED' : 'OPEN'
}
