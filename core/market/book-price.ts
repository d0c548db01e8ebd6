// What an order book says a token is worth: where it has real depth on both sides, of more than one maker where the exchange tells them. Pure.
import type { Fraction } from '../base/decimal.ts'

/** An order, or a level of several. */
export interface BookOffer {
  /** What a unit of the token costs, in units of the other one: both in their smallest. */
  readonly price: Fraction
  /** Of the other token. */
  readonly otherRaw: bigint
  /** Absent where the exchange does not tell it. */
  readonly maker?: string
}

/** A book of two tokens, without the orders of this server's wallets where they can be told. Best offers first. */
export interface PricedBook {
  readonly connector: string
  /** The exchange's id of it. */
  readonly market: string
  readonly tokenIn: string
  readonly tokenOut: string
  /** Of who buys `tokenIn`. */
  readonly buys: readonly BookOffer[]
  readonly sells: readonly BookOffer[]
  /** The exchange's own price, which no order in the book moves. */
  readonly index?: Fraction
}

export const bookKey = ({ connector, market }: Pick<PricedBook, 'connector' | 'market'>): string => `${connector} ${market}`

/** Each side has its depth within so much of the price, in percent: as pools do. */
const withinPercent = 2n

/**
 * Between the prices to which each side has the depth. So an order below it says nothing, however good its price. Nor does one maker alone: it counts for half of
 * the depth at most. Last trades say nothing: who trades with itself makes them up.
 * @param depthRaw of the other token @returns undefined where a side has less, or has it too far away
 */
export function bookPrice({ buys, sells }: Pick<PricedBook, 'buys' | 'sells'>, depthRaw: bigint): Fraction | undefined {
  const [bid, ask] = [priceAtDepth(buys, depthRaw), priceAtDepth(sells, depthRaw)]
  if (!bid || !ask) return undefined
  const denominator = bid.denominator * ask.denominator
  const [bought, sold] = [bid.numerator * ask.denominator, ask.numerator * bid.denominator]
  const isCrossed = bought > sold
  if (isCrossed || (sold - bought) * 100n > (sold + bought) * withinPercent) return undefined
  return { numerator: bought + sold, denominator: 2n * denominator }
}

function priceAtDepth(offers: readonly BookOffer[], depthRaw: bigint): Fraction | undefined {
  const mostOfMaker = (depthRaw + 1n) / 2n
  const counted = new Map<string, bigint>()
  let foundRaw = 0n
  for (const { price, otherRaw, maker } of offers) {
    const before = maker === undefined ? 0n : (counted.get(maker) ?? 0n)
    const left = mostOfMaker - before
    const added = maker === undefined || otherRaw < left ? otherRaw : left
    if (maker !== undefined) counted.set(maker, before + added)
    foundRaw += added
    if (foundRaw >= depthRaw && price.numerator > 0n) return price
  }
  return undefined
}
