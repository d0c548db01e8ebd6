import type { At, BookMarket, BookSide, MakerBook, MakerLevel } from '../../core/contracts/index.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import type { EvmReader } from '../evm/types.ts'
import { priceOf, shownBy } from './book.ts'
import { decodeView, pairOfMarket, type Deployment, type Pair } from './contract.ts'
import { readOffers } from './lens.ts'
import { offerCall } from './own-orders.ts'

/** Offers of a side that are looked at: each costs its maker at least the market's least amount, and the depth that counts is near the best one. */
const maxOffers = 100

/** The best offers with their owners, which the lens does not read: two round trips, at one block. */
export async function readMakerBooks(reader: EvmReader, deployment: Deployment, markets: readonly BookMarket[], at: At) {
  const pairs = markets.map((market) => pairOfMarket(deployment, market))
  const { head, offers } = await readOffers(reader, deployment.market, pairs, undefined, at, { maxOffers })
  const found = pairs.flatMap((pair, index) =>
    (['buys', 'sells'] as const).flatMap((side) => (offers[index]?.[side].offers ?? []).map(({ id }) => ({ pair, side, id }))),
  )
  const { results } =
    found.length === 0
      ? { results: [] }
      : await reader.read(
          found.map(({ id }) => offerCall(deployment.market, String(id))),
          at,
          head,
        )
  const levels = new Map<string, MakerLevel[]>()
  for (const [index, { pair, side }] of found.entries()) {
    const { pay_amt, buy_amt, owner } = decodeView(deployment.market, 'offers', results[index])
    const level = levelOf(pair, side, { payRaw: BigInt(pay_amt), buyRaw: BigInt(buy_amt), maker: String(owner) })
    const key = `${pair.id} ${side}`
    if (level) levels.set(key, [...(levels.get(key) ?? []), level])
  }
  const books = pairs.map(({ id }): MakerBook => ({
    market: id,
    buys: levels.get(`${id} buys`) ?? [],
    sells: levels.get(`${id} sells`) ?? [],
  }))
  return { timestamp: head.timestamp * 1000, books }
}

/** Undefined where nothing is left of it. */
function levelOf(
  pair: Pair,
  side: BookSide,
  { payRaw, buyRaw, maker }: { payRaw: bigint; buyRaw: bigint; maker: string },
): MakerLevel | undefined {
  const [quoteRaw, baseRaw] = side === 'sells' ? [buyRaw, payRaw] : [payRaw, buyRaw]
  if (quoteRaw === 0n || baseRaw === 0n) return undefined
  return { price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]), quantity: formatRaw(baseRaw, pair.base.decimals), maker }
}
