import type { At, BookMarket, BookTrade } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { plain } from '../decimal.ts'
import { fills, publicTrades } from './order-answers.ts'
import type { WireFill, WireTrade } from './order-answers.ts'

export interface WantedTrades {
  readonly market: BookMarket
  /** In lower case. */
  readonly user?: string
  readonly orderId?: string
  readonly limit: number
  readonly before?: number
}

/** Newest first: of a wallet the last 2,000 that the exchange tells at once, of everybody the last few. */
export async function readTrades(
  ask: Ask,
  { market, user, orderId, limit, before = Infinity }: WantedTrades,
  at: At,
): Promise<readonly BookTrade[]> {
  const all: readonly (WireTrade | WireFill)[] =
    user === undefined
      ? await ask({ type: 'recentTrades', coin: market.id }, publicTrades, at)
      : await ask({ type: 'userFills', user }, fills, at)
  return all
    .filter(
      (each) => each.coin === market.id && each.time < before && (orderId === undefined || ('oid' in each && String(each.oid) === orderId)),
    )
    .toSorted((a, b) => b.time - a.time || b.tid - a.tid)
    .slice(0, limit)
    .map((each) => shown(each, market))
}

function shown(trade: WireTrade | WireFill, market: BookMarket): BookTrade {
  const { tid, side, px, sz, time, hash } = trade
  return {
    tradeId: String(tid),
    ...('oid' in trade && { orderId: String(trade.oid) }),
    market,
    side: side === 'B' ? 'BUY' : 'SELL',
    price: plain(px),
    amount: plain(sz),
    // What strangers paid the exchange does not tell.
    fee: 'fee' in trade ? plain(trade.fee) : '0',
    feeToken: 'feeToken' in trade ? trade.feeToken : market.quote,
    timestamp: time,
    // Fills that are of no transaction, such as of a liquidation, have a hash of zeros.
    ...(/[1-9a-f]/.test(hash.slice(2)) && { txHash: hash }),
  }
}
