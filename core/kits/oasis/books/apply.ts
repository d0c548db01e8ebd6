import type { BookSide } from '../../../contracts/index.ts'
import type { FoundLog } from '../../../../kits/evm/types.ts'
import type { Offer } from '../../../../kits/oasis/lens.ts'
import { eventOf, type OfferEvent } from '../../../../kits/oasis/events.ts'
import { bookOffer, compareOffers, takenPrice, type BookOffer, type MadeOffer, type OasisState } from './state.ts'

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
  const lastPrice = takenPrice(state.pair, event.side, baseRaw, quoteRaw)
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
function change(state: OasisState, { id, side }: Pick<MadeOffer, 'id' | 'side'>, into: (offer: Offer) => Offer | undefined) {
  const { offers, whole, fewest } = state.sides[side]
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
