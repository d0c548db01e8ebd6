import type { Json } from '../../contracts/index.ts'
import type { Order } from './swap.ts'

/** What the journal keeps of a trade, so that its fill can be shown in the caller's terms. */
export interface AboutTrade {
  side: 'BUY' | 'SELL'
  base: { symbol: string; decimals: number }
  quote: { symbol: string; decimals: number }
}

export const aboutTrade = ({ side, base, quote }: Order): Json => ({
  side,
  base: { symbol: base.symbol, decimals: base.decimals },
  quote: { symbol: quote.symbol, decimals: quote.decimals },
})

/** Reads it back: the journal is this server's own, and its `kind` says what is in it. */
export const readAboutTrade = (about: Json): AboutTrade => about as unknown as AboutTrade
