import type { Offer } from '../reading/lens.ts'

/** What an order would give and get of the offers that it meets. */
export interface Matched {
  readonly paidRaw: bigint
  readonly gotRaw: bigint
}

/**
 * What the market makes of a new offer: MatchingMarket._matcho, to the unit. It stops at the first offer that asks for more, and with
 * `rounding` at the first that asks for more than rounding can have made of the same price.
 */
export function matchOffer(makers: readonly Offer[], offer: Pick<Offer, 'payRaw' | 'buyRaw'>, rounding: boolean): Matched {
  let { payRaw, buyRaw } = offer
  let [paidRaw, gotRaw] = [0n, 0n]
  for (const maker of makers) {
    const slack = rounding ? maker.buyRaw + buyRaw + payRaw + maker.payRaw : 0n
    if (maker.buyRaw * buyRaw > payRaw * maker.payRaw + slack) break
    const takenRaw = buyRaw < maker.payRaw ? buyRaw : maker.payRaw
    paidRaw += (takenRaw * maker.buyRaw) / maker.payRaw
    gotRaw += takenRaw
    const before = buyRaw
    buyRaw -= takenRaw
    payRaw = (buyRaw * payRaw) / before
    if (payRaw === 0n || buyRaw === 0n) break
  }
  return { paidRaw, gotRaw }
}

/** What an amount of base costs or brings at once, rounded down as the market does; undefined where there are too few offers. */
export function tradeAtOnce(makers: readonly Offer[], side: 'BUY' | 'SELL', baseRaw: bigint): bigint | undefined {
  let [leftRaw, quoteRaw] = [baseRaw, 0n]
  for (const { payRaw, buyRaw } of makers) {
    const [offeredRaw, forRaw] = side === 'BUY' ? [payRaw, buyRaw] : [buyRaw, payRaw]
    const takenRaw = leftRaw < offeredRaw ? leftRaw : offeredRaw
    quoteRaw += (takenRaw * forRaw) / offeredRaw
    leftRaw -= takenRaw
    if (leftRaw === 0n) return quoteRaw
  }
  return undefined
}

/** The offer that the market sorts a new one in behind: the last that asks for as much or less. 0 where the new one is the best. */
export function neighbourOf(sorted: readonly Offer[], { payRaw, buyRaw }: Pick<Offer, 'payRaw' | 'buyRaw'>): bigint {
  return sorted.findLast((offer) => buyRaw * offer.payRaw >= offer.buyRaw * payRaw)?.id ?? 0n
}
