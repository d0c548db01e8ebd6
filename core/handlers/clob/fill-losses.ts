// What fills of an order lost against the market of when they were made.
import { sum, toCommonScale } from '../../base/decimal.ts'
import type { BookMarket } from '../../contracts/index.ts'
import { tokensOfMarket } from '../../market/book-tokens.ts'
import type { ExchangedAmounts } from '../../market/exchange-values.ts'
import type { Market } from '../../market/market.ts'
import type { NetworkEntry } from '../../plugins/index.ts'
import type { FillsValue } from '../../transactions/counted-fills.ts'
import type { OrderFill } from '../../transactions/order-fills.ts'
import { amountOf } from './held-orders.ts'
import { readAboutOrder } from './order-state.ts'

interface FillsMarket {
  readonly market: BookMarket
  readonly network: NetworkEntry
  /** The owner's. */
  readonly address: string
}

/**
 * By the market of this server, for orders of tokens that it lists. Reads the market of these tokens from now on, as long as it is called: an order may stand
 * for longer than anybody asks for them.
 * @param nowMs by the clock of the machine, as the times of fills
 */
export function createFillLosses(prices: Pick<Market, 'isChecked' | 'watch' | 'lostBefore'>, nowMs: () => number = Date.now) {
  return ({ market, network, address }: FillsMarket): FillsValue => {
    const { listed } = network.tokens
    const [[base, ...moreBases], [quote, ...moreQuotes]] = [tokensOfMarket(market, 'base', listed), tokensOfMarket(market, 'quote', listed)]
    if (!base || !quote || moreBases.length > 0 || moreQuotes.length > 0 || !prices.isChecked(network)) return () => undefined
    prices.watch(network, [base.address, quote.address], `orders of ${address}`)
    const exchangedBy = (side: 'BUY' | 'SELL', fill: OrderFill): ExchangedAmounts => {
      const amount = (rounding: 'up' | 'down') => ({ [base.address]: amountOf(fill, '1', base, rounding) })
      const worth = (rounding: 'up' | 'down') => ({ [quote.address]: amountOf(fill, fill.price, quote, rounding) })
      return side === 'SELL' ? { gives: amount('up'), gets: worth('down') } : { gives: worth('up'), gets: amount('down') }
    }
    return (about, fills) => {
      const { side, amount } = readAboutOrder({ about })
      const losses = fills.map((fill) => prices.lostBefore(network, exchangedBy(side, fill), Math.max(0, nowMs() - fill.timestamp)))
      // What has no market counts as it was reserved.
      let lostMicros = 0n
      for (const lost of losses) {
        if (lost === 'not yet') return lost
        lostMicros += lost ?? 0n
      }
      const { aRaw: filled, bRaw: whole } = toCommonScale(sum(fills.map((each) => each.amount)), amount)
      return whole > 0n ? { part: { numerator: filled, denominator: whole }, lostMicros } : undefined
    }
  }
}
