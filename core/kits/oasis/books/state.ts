import type { BookSide, Decimal } from '../../../contracts/index.ts'
import { priceText, type Rounding } from '../../../../kits/oasis/decimal.ts'
import type { Pair } from '../../../../kits/oasis/contract.ts'
import type { Offer, PairOffers } from '../../../../kits/oasis/lens.ts'

/** An offer that other offers are matched with, with what it is in a book. */
export interface BookOffer extends Offer {
  readonly price: Decimal
  readonly baseRaw: bigint
}

/** Best first. What is behind the last one is unknown where that is not the `whole` side; fewer than the `fewest` are not enough then. */
export interface SideState {
  readonly offers: readonly BookOffer[]
  readonly whole: boolean
  readonly fewest: number
}

export type MadeOffer = Offer & { readonly side: BookSide }

/** A market's offers, and what was traded last. */
export interface OasisState {
  readonly pair: Pair
  readonly sides: Readonly<Record<BookSide, SideState>>
  /** Made, but not sorted into the book: they are never matched. */
  readonly unsorted: readonly MadeOffer[]
  readonly lastPrice?: Decimal
}

/** Shown prices are never better for who takes the offer than the exact ones. */
export const shownBy: Readonly<Record<BookSide, Rounding>> = { buys: 'down', sells: 'up' }

export function bookOffer(pair: Pair, side: BookSide, { id, payRaw, buyRaw }: Offer): BookOffer {
  const [quoteRaw, baseRaw] = side === 'sells' ? [buyRaw, payRaw] : [payRaw, buyRaw]
  return { id, payRaw, buyRaw, baseRaw, price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]) }
}

export const priceOf = ({ base, quote }: Pair, quoteRaw: bigint, baseRaw: bigint, rounding: Rounding): Decimal =>
  priceText({ numerator: quoteRaw, denominator: baseRaw }, quote.decimals - base.decimals, rounding)

/** Who takes what is for sale buys. */
export const takenPrice = (pair: Pair, offered: BookSide, baseRaw: bigint, quoteRaw: bigint): Decimal =>
  priceOf(pair, quoteRaw, baseRaw, offered === 'sells' ? 'up' : 'down')

/** How much more the one asks for what it pays than the other: above 0 where it is worse for who takes it. */
export function compareOffers(a: Offer, b: Offer): number {
  const [left, right] = [a.buyRaw * b.payRaw, b.buyRaw * a.payRaw]
  return left < right ? -1 : left > right ? 1 : 0
}

export function stateOf(pair: Pair, found: PairOffers, lastPrice?: Decimal): OasisState {
  const side = (name: BookSide): SideState => {
    const { offers, whole } = found[name]
    // The market keeps an offer in its place when a part of it was taken, though rounding moves its price a little then.
    const sorted = offers.map((offer) => bookOffer(pair, name, offer)).toSorted(compareOffers)
    return { offers: sorted, whole, fewest: Math.floor(sorted.length / 2) }
  }
  return { pair, sides: { buys: side('buys'), sells: side('sells') }, unsorted: [], ...(lastPrice !== undefined && { lastPrice }) }
}
