import type { Offer } from '../../../../kits/oasis/lens.ts'

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

export interface Traded {
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
}

/** The offers that an amount of base meets at once, and what it comes to, rounded down by each as the market does. Undefined where they are too few. */
export function tradeAtOnce(
  makers: readonly Offer[],
  side: 'BUY' | 'SELL',
  amountRaw: bigint,
): { met: readonly Traded[]; quoteRaw: bigint } | undefined {
  let [leftRaw, quoteRaw] = [amountRaw, 0n]
  const met: Traded[] = []
  for (const { payRaw, buyRaw } of makers) {
    const offered = side === 'BUY' ? { baseRaw: payRaw, quoteRaw: buyRaw } : { baseRaw: buyRaw, quoteRaw: payRaw }
    const takenRaw = leftRaw < offered.baseRaw ? leftRaw : offered.baseRaw
    met.push(offered)
    quoteRaw += (takenRaw * offered.quoteRaw) / offered.baseRaw
    leftRaw -= takenRaw
    if (leftRaw === 0n) return { met, quoteRaw }
  }
  return undefined
}

/** The offer that the market sorts a new one in behind: the last that asks for as much or less. 0 where the new one is the best. */
export function neighbourOf(sorted: readonly Offer[], { payRaw, buyRaw }: Pick<Offer, 'payRaw' | 'buyRaw'>): bigint {
  const worse = sorted.findIndex((offer) => buyRaw * offer.payRaw < offer.buyRaw * payRaw)
  return sorted[worse < 0 ? sorted.length - 1 : worse - 1]?.id ?? 0n
}
