import {
  SluiceError,
  type FollowedBooks,
  type Venue,
  type BookSide,
  type Decimal,
  type Book,
  type LastTrades,
  type Level,
  type At,
  type Log,
} from '../../core/contracts/index.ts'
import type { Evm, FoundLog, EvmReader } from '../evm/types.ts'
import type { Deployment, Pair } from './contract.ts'
import { bookPriceOf, type Rounding, formatRaw } from '../../core/base/decimal.ts'
import { bookTopics, pairsOfLog, eventOf, type OfferEvent, takesOf } from './events.ts'
import { readOffers, type Offer, type PairOffers } from './lens.ts'

/** The exchange's books: read in one call, then updated by the market's events. */
export function oasisBooks({ reader, log }: Venue<Evm>, deployment: Deployment): FollowedBooks<Evm, OasisState> {
  return {
    follow: bookTopics,
    emitters: () => [deployment.market.toLowerCase()],
    keysOf: (change) => pairsOfLog(deployment, change).map(({ id }) => id),
    async load(keys, after, at) {
      const pairs = deployment.pairs.filter(({ id }) => keys.includes(id))
      const [{ head, offers: found }, prices] = await Promise.all([
        readOffers(reader, deployment.market, pairs, undefined, at, { after }).catch((error: unknown) => {
          // One pair takes nothing from the others: an error that is the connector's own makes them be loaded one by one.
          if (pairs.length > 1 && error instanceof SluiceError && error.name === 'SERVICE_UNINITIALIZED') throw new Error(error.message)
          throw error
        }),
        lastPrices(reader, deployment, pairs, after.number, log, at),
      ])
      const states = pairs.flatMap((pair, index) => {
        const offers = found[index]
        return offers ? [[pair.id, stateOf(pair, offers, prices.get(pair.id))] as const] : []
      })
      return { head, states: new Map(states) }
    },
    apply,
    keyOfMarket: ({ id }) => id,
    show: toBook,
  }
}

/** An offer in the book, with its price and amount there. */
interface BookOffer extends Offer {
  readonly price: Decimal
  readonly baseRaw: bigint
}

/** Best offer first. Where the side is not complete there may be more offers behind the last one, and below `minOffers` it is read again. */
interface SideState {
  readonly offers: readonly BookOffer[]
  readonly isComplete: boolean
  readonly minOffers: number
}

type UnsortedOffer = Offer & { readonly side: BookSide }

/** The offers of a market, and the price of its last trade. */
export interface OasisState {
  readonly pair: Pair
  readonly sides: Readonly<Record<BookSide, SideState>>
  /** Offers that are not sorted into the book. The market never matches them. */
  readonly unsorted: readonly UnsortedOffer[]
  readonly lastPrice?: Decimal
}

/** Shown prices are rounded against the taker. */
export const shownBy: Readonly<Record<BookSide, Rounding>> = { buys: 'down', sells: 'up' }

function bookOffer(pair: Pair, side: BookSide, { id, payRaw, buyRaw }: Offer): BookOffer {
  const [quoteRaw, baseRaw] = side === 'sells' ? [buyRaw, payRaw] : [payRaw, buyRaw]
  return { id, payRaw, buyRaw, baseRaw, price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]) }
}

export const priceOf = ({ base, quote }: Pair, quoteRaw: bigint, baseRaw: bigint, rounding: Rounding): Decimal =>
  bookPriceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, rounding)

/** The taker of an offer to sell buys. Rounded against the taker. */
const tradePrice = (pair: Pair, offered: BookSide, baseRaw: bigint, quoteRaw: bigint): Decimal =>
  priceOf(pair, quoteRaw, baseRaw, offered === 'sells' ? 'up' : 'down')

/** Above 0 where `a` is the worse one for a taker: it asks for more of what it buys. */
function compareOffers(a: Offer, b: Offer): number {
  const [left, right] = [a.buyRaw * b.payRaw, b.buyRaw * a.payRaw]
  return left < right ? -1 : left > right ? 1 : 0
}

export function stateOf(pair: Pair, found: PairOffers, lastPrice?: Decimal): OasisState {
  const side = (name: BookSide): SideState => {
    const { offers, isComplete } = found[name]
    // The market leaves an offer in its position after a part of it was taken, though rounding moves its price a little.
    const sorted = offers.map((offer) => bookOffer(pair, name, offer)).toSorted(compareOffers)
    return { offers: sorted, isComplete, minOffers: Math.floor(sorted.length / 2) }
  }
  return { pair, sides: { buys: side('buys'), sells: side('sells') }, unsorted: [], ...(lastPrice !== undefined && { lastPrice }) }
}

/** The state after an event; the same object if the event is of another market. `reload` where the known offers do not suffice. */
export function apply(state: OasisState, log: FoundLog): OasisState | 'reload' {
  const event = eventOf(state.pair, log)
  return event ? applyEvent(state, event) : state
}

function applyEvent(state: OasisState, event: OfferEvent): OasisState | 'reload' {
  if (event.is === 'made') return { ...state, unsorted: [...state.unsorted, event] }
  if (event.is === 'sorted') return sortOffer(state, event.id)
  // A third party sorted an offer that was made without. Its `sorted` event came before: a known offer was handled then.
  if (event.is === 'inserted') return isKnown(state, event.id) ? state : 'reload'
  if (event.is === 'killed') return replaceOffer(state, event, () => undefined)
  const [quoteRaw, baseRaw] = event.side === 'sells' ? [event.buyRaw, event.payRaw] : [event.payRaw, event.buyRaw]
  const lastPrice = tradePrice(state.pair, event.side, baseRaw, quoteRaw)
  const after = replaceOffer(state, event, (offer) => afterTake(offer, event))
  return after === 'reload' ? after : { ...after, lastPrice }
}

function sortOffer(state: OasisState, id: bigint): OasisState {
  const made = state.unsorted.find((offer) => offer.id === id)
  if (!made) return state
  const unsorted = state.unsorted.filter((offer) => offer !== made)
  const { offers, isComplete } = state.sides[made.side]
  const last = offers.at(-1)
  // Behind the last known offer there may be better ones that are unknown.
  const isBeyond = !isComplete && (!last || compareOffers(last, made) <= 0)
  return isBeyond ? { ...state, unsorted } : withOffers({ ...state, unsorted }, made.side, inserted(state, made.side, offers, made))
}

/** Replaces one offer, in the book or unsorted. An unknown offer is behind all known ones, or was never sorted. */
function replaceOffer(state: OasisState, { id, side }: Pick<UnsortedOffer, 'id' | 'side'>, by: (offer: Offer) => Offer | undefined) {
  const { offers, isComplete, minOffers } = state.sides[side]
  const found = offers.find((offer) => offer.id === id)
  if (!found) {
    const unsorted = state.unsorted.flatMap((offer) => {
      const changed = offer.id === id ? by(offer) : offer
      return changed ? [{ ...changed, side: offer.side }] : []
    })
    return { ...state, unsorted }
  }
  const others = offers.filter((offer) => offer !== found)
  if (!isComplete && others.length < minOffers) return 'reload'
  const changed = by(found)
  return withOffers(state, side, changed ? inserted(state, side, others, changed) : others)
}

/** Inserts an offer behind all that are as good or better. */
function inserted({ pair }: OasisState, side: BookSide, offers: readonly BookOffer[], offer: Offer): readonly BookOffer[] {
  let [from, to] = [0, offers.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const other = offers[middle]
    if (other && compareOffers(other, offer) <= 0) from = middle + 1
    else to = middle
  }
  return offers.toSpliced(from, 0, bookOffer(pair, side, offer))
}

const withOffers = (state: OasisState, side: BookSide, offers: readonly BookOffer[]): OasisState => ({
  ...state,
  sides: { ...state.sides, [side]: { ...state.sides[side], offers } },
})

const afterTake = ({ id, payRaw, buyRaw }: Offer, taken: { payRaw: bigint; buyRaw: bigint }): Offer | undefined =>
  payRaw > taken.payRaw ? { id, payRaw: payRaw - taken.payRaw, buyRaw: buyRaw - taken.buyRaw } : undefined

const isKnown = ({ sides, unsorted }: OasisState, id: bigint) =>
  [...sides.buys.offers, ...sides.sells.offers, ...unsorted].some((offer) => offer.id === id)

/** The book with one level for each price. */
export function toBook({ pair, sides, lastPrice }: OasisState): Book & LastTrades {
  const levels = ({ offers }: SideState): readonly Level[] => {
    const summed: { price: string; baseRaw: bigint }[] = []
    for (const { price, baseRaw } of offers) {
      const last = summed.at(-1)
      if (last?.price === price) last.baseRaw += baseRaw
      else summed.push({ price, baseRaw })
    }
    return summed.map(({ price, baseRaw }) => ({ price, quantity: formatRaw(baseRaw, pair.base.decimals) }))
  }
  return { buys: levels(sides.buys), sells: levels(sides.sells), ...(lastPrice !== undefined && { lastPrice }) }
}

/** The number of blocks that nodes search in one call. */
const searchedBlocks = 10_000

/** The last price of each pair, by the pair's id. Tickers alone show it, so that a failure does not hold up the book. */
async function lastPrices(
  reader: EvmReader,
  deployment: Deployment,
  pairs: readonly Pair[],
  newest: bigint,
  log: Log,
  at: At,
): Promise<ReadonlyMap<string, Decimal>> {
  try {
    const takes = await takesOf(reader, deployment, pairs, Number(newest) - searchedBlocks + 1, at)
    return new Map(takes.map(({ pair, side, baseRaw, quoteRaw }) => [pair.id, tradePrice(pair, side, baseRaw, quoteRaw)]))
  } catch (error) {
    log.warn({ error: String(error) }, 'last trades not read: no last price until the next trade')
    return new Map()
  }
}
