import type { FollowedBooks, Venue, BookSide, Decimal, Book, LastTrades, Level, At, Log } from '../../core/contracts/index.ts'
import type { Evm, FoundLog, EvmReader } from '../evm/types.ts'
import type { Deployment, Pair } from './contract.ts'
import { bookPriceOf, type Rounding, formatRaw } from '../../core/decimal.ts'
import { bookTopics, pairsOfLog, eventOf, type OfferEvent, takesOf } from './events.ts'
import { offerLens, readLens, type Offer, type PairOffers } from './lens.ts'

/** The exchange's books, read in one call and moved by what the market logs. */
export function oasisBooks({ reader, log }: Venue<Evm>, place: Deployment): FollowedBooks<Evm, OasisState> {
  return {
    follow: bookTopics,
    emitters: () => [place.market.toLowerCase()],
    keysOf: (change) => pairsOfLog(place, change).map(({ id }) => id),
    async load(keys, after, at) {
      const pairs = place.pairs.filter(({ id }) => keys.includes(id))
      const [{ head, results }, prices] = await Promise.all([
        reader.read([offerLens(place.market, pairs)], at, after),
        lastPrices(reader, place, pairs, after.number, log, at),
      ])
      const found = readLens(results[0] ?? { ok: false, data: '0x' }, pairs)
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

/** An offer that other offers are matched with, with what it is in a book. */
interface BookOffer extends Offer {
  readonly price: Decimal
  readonly baseRaw: bigint
}

/** Best first. What is behind the last one is unknown where that is not the `whole` side; fewer than the `fewest` are not enough then. */
interface SideState {
  readonly offers: readonly BookOffer[]
  readonly whole: boolean
  readonly minOffers: number
}

type UnsortedOffer = Offer & { readonly side: BookSide }

/** A market's offers, and what was traded last. */
export interface OasisState {
  readonly pair: Pair
  readonly sides: Readonly<Record<BookSide, SideState>>
  /** Made, but not sorted into the book: they are never matched. */
  readonly unsorted: readonly UnsortedOffer[]
  readonly lastPrice?: Decimal
}

/** Shown prices are never better for who takes the offer than the exact ones. */
export const shownBy: Readonly<Record<BookSide, Rounding>> = { buys: 'down', sells: 'up' }

function bookOffer(pair: Pair, side: BookSide, { id, payRaw, buyRaw }: Offer): BookOffer {
  const [quoteRaw, baseRaw] = side === 'sells' ? [buyRaw, payRaw] : [payRaw, buyRaw]
  return { id, payRaw, buyRaw, baseRaw, price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]) }
}

export const priceOf = ({ base, quote }: Pair, quoteRaw: bigint, baseRaw: bigint, rounding: Rounding): Decimal =>
  bookPriceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, rounding)

/** Who takes what is for sale buys. */
const tradePrice = (pair: Pair, offered: BookSide, baseRaw: bigint, quoteRaw: bigint): Decimal =>
  priceOf(pair, quoteRaw, baseRaw, offered === 'sells' ? 'up' : 'down')

/** How much more the one asks for what it pays than the other: above 0 where it is worse for who takes it. */
function compareOffers(a: Offer, b: Offer): number {
  const [left, right] = [a.buyRaw * b.payRaw, b.buyRaw * a.payRaw]
  return left < right ? -1 : left > right ? 1 : 0
}

export function stateOf(pair: Pair, found: PairOffers, lastPrice?: Decimal): OasisState {
  const side = (name: BookSide): SideState => {
    const { offers, whole } = found[name]
    // The market keeps an offer in its place when a part of it was taken, though rounding moves its price a little then.
    const sorted = offers.map((offer) => bookOffer(pair, name, offer)).toSorted(compareOffers)
    return { offers: sorted, whole, minOffers: Math.floor(sorted.length / 2) }
  }
  return { pair, sides: { buys: side('buys'), sells: side('sells') }, unsorted: [], ...(lastPrice !== undefined && { lastPrice }) }
}

/** The book after a log: the same where it was about another one; `reload` where more would have to be known. */
export function apply(state: OasisState, log: FoundLog): OasisState | 'reload' {
  const event = eventOf(state.pair, log)
  return event ? applyEvent(state, event) : state
}

function applyEvent(state: OasisState, event: OfferEvent): OasisState | 'reload' {
  if (event.is === 'made') return { ...state, unsorted: [...state.unsorted, event] }
  if (event.is === 'sorted') return sortIn(state, event.id)
  // By somebody who sorts in what others made without. It came as sorted before, and then it was known or is of another market.
  if (event.is === 'inserted') return isKnown(state, event.id) ? state : 'reload'
  if (event.is === 'killed') return change(state, event, () => undefined)
  const [quoteRaw, baseRaw] = event.side === 'sells' ? [event.buyRaw, event.payRaw] : [event.payRaw, event.buyRaw]
  const lastPrice = tradePrice(state.pair, event.side, baseRaw, quoteRaw)
  const after = change(state, event, (offer) => less(offer, event))
  return after === 'reload' ? after : { ...after, lastPrice }
}

function sortIn(state: OasisState, id: bigint): OasisState {
  const made = state.unsorted.find((offer) => offer.id === id)
  if (!made) return state
  const unsorted = state.unsorted.filter((offer) => offer !== made)
  const side = state.sides[made.side]
  const last = side.offers.at(-1)
  // Behind the last that is known there may be better ones that are not.
  const isBeyond = !side.whole && (!last || compareOffers(last, made) <= 0)
  return isBeyond ? { ...state, unsorted } : withOffers({ ...state, unsorted }, made.side, placed(state, made.side, side.offers, made))
}

/** What becomes of one offer, wherever it is; one that is not known lies behind all that are, or was never sorted in. */
function change(state: OasisState, { id, side }: Pick<UnsortedOffer, 'id' | 'side'>, into: (offer: Offer) => Offer | undefined) {
  const { offers, whole, minOffers: fewest } = state.sides[side]
  const found = offers.find((offer) => offer.id === id)
  if (!found) {
    const unsorted = state.unsorted.flatMap((offer) => {
      const changed = offer.id === id ? into(offer) : offer
      return changed ? [{ ...changed, side: offer.side }] : []
    })
    return { ...state, unsorted }
  }
  const others = offers.filter((offer) => offer !== found)
  if (!whole && others.length < fewest) return 'reload'
  const changed = into(found)
  return withOffers(state, side, changed ? placed(state, side, others, changed) : others)
}

/** Behind all that ask for as much or less. */
function placed({ pair }: OasisState, side: BookSide, offers: readonly BookOffer[], offer: Offer): readonly BookOffer[] {
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

const less = ({ id, payRaw, buyRaw }: Offer, taken: { payRaw: bigint; buyRaw: bigint }): Offer | undefined =>
  payRaw > taken.payRaw ? { id, payRaw: payRaw - taken.payRaw, buyRaw: buyRaw - taken.buyRaw } : undefined

const isKnown = ({ sides, unsorted }: OasisState, id: bigint) =>
  [...sides.buys.offers, ...sides.sells.offers, ...unsorted].some((offer) => offer.id === id)

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

/** What nodes look through in one call. */
const blocks = 10_000

/** What was traded last in each pair, by the pair's id; no more than a part of a ticker, so that books are shown without it. */
async function lastPrices(
  reader: EvmReader,
  place: Deployment,
  pairs: readonly Pair[],
  newest: bigint,
  log: Log,
  at: At,
): Promise<ReadonlyMap<string, Decimal>> {
  try {
    const takes = await takesOf(reader, place, pairs, Number(newest) - blocks + 1, at)
    return new Map(takes.map(({ pair, side, baseRaw, quoteRaw }) => [pair.id, tradePrice(pair, side, baseRaw, quoteRaw)]))
  } catch (error) {
    log.warn({ error: String(error) }, 'The last trades could not be read: there is no last price until the next one.')
    return new Map()
  }
}
