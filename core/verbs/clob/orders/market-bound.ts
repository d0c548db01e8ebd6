import { badFields, SluiceError } from '../../../api/index.ts'
import type { Book, BookMarket } from '../../../contracts/index.ts'
import { parse } from '../../../decimal.ts'
import type { Slippage } from '../../../handlers/slippage.ts'
import { fraction, isLess } from '../figures/exact.ts'
import { roundPrice } from '../../../handlers/clob/grids.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'

/** What a MARKET order may pay, or must get, at most: `price` is what the exchange enforces, `reference` the best price of the book. */
export interface MarketBound {
  price: string
  reference?: string
}

/**
 * The best price of the other side moved by the slippage, on the grid and never looser.
 * @throws SluiceError PRICE_FAILED where there is nothing to trade with
 */
export function slippageLimit(side: 'BUY' | 'SELL', market: BookMarket, book: Book, { numerator, denominator }: Slippage): MarketBound {
  const reference = bestOf(side, book)
  if (reference === undefined) {
    const lacking = side === 'BUY' ? 'sells' : 'buys'
    throw new SluiceError('PRICE_FAILED', `Nobody ${lacking} on ${nameOf(market)} now: there is no price to bound a MARKET order by.`)
  }
  const best = fraction(parse(reference))
  const part = side === 'BUY' ? denominator + numerator : denominator - numerator
  // A slippage of all or more leaves no bound but that something is paid: the smallest price there is.
  const moved = { numerator: best.numerator * (part > 0n ? part : 1n), denominator: best.denominator * denominator }
  return { price: roundPrice(moved, market.prices, side === 'BUY' ? 'down' : 'up'), reference }
}

/**
 * The caller's own limit on the grid, never looser.
 * @param book absent where it is not known: the exchange enforces the bound
 * @throws SluiceError where the market is past it already
 */
export function callersLimit(side: 'BUY' | 'SELL', market: BookMarket, book: Book | undefined, limitPrice: string): MarketBound {
  const price = roundPrice(fraction(parse(limitPrice)), market.prices, side === 'BUY' ? 'down' : 'up')
  if (price === '0') throw badFields([{ field: 'limitPrice', problem: `${limitPrice} is below the smallest price of ${nameOf(market)}` }])
  const reference = book && bestOf(side, book)
  if (reference === undefined) return { price }
  if (side === 'BUY' && isLess(price, reference))
    throw new SluiceError(
      'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
      `The best offer is at ${reference} now, above limitPrice: nothing was sent. Raise limitPrice or wait.`,
    )
  if (side === 'SELL' && isLess(reference, price))
    throw new SluiceError(
      'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
      `The best bid is at ${reference} now, below limitPrice: nothing was sent. Lower limitPrice or wait.`,
    )
  return { price, reference }
}

const bestOf = (side: 'BUY' | 'SELL', { buys, sells }: Book) => (side === 'BUY' ? sells : buys)[0]?.price
