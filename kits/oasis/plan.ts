import type { ActionPlan, At, BookAction } from '../../core/contracts/index.ts'
import type { CallResult, Evm, EvmReader } from '../evm/types.ts'
import { ownOffers } from './own-orders.ts'
import { pairOfMarket, type Pair, type Place } from './contract.ts'
import { answered } from '../../core/kits/oasis/reading/answered.ts'
import { offerLens, readLens } from './lens.ts'
import { idOf, isOver, offerCall, planCancel, unknownOrder } from '../../core/kits/oasis/orders/cancel.ts'
import { planOrder } from '../../core/kits/oasis/orders/place.ts'

/** A plan for every action, of what is read in one round trip: the books of the markets, and the offers that are to be cancelled. */
export async function act(
  reader: EvmReader,
  place: Place,
  owner: string,
  actions: readonly BookAction[],
  at: At,
): Promise<readonly ActionPlan<Evm>[]> {
  const { market } = place
  const named = actions.map((action) => ({ action, pair: pairOfMarket(place, action.market) }))
  const traded = [...new Set(named.flatMap(({ action, pair }) => (action.do === 'create' ? [pair] : [])))]
  const calls = named.map(({ action }) => (action.do === 'cancel' ? [offerCall(market, idOf(action.order))] : []))
  const { results } = await reader.read([...calls.flat(), ...(traded.length > 0 ? [offerLens(market, traded)] : [])], at)
  const books = traded.length > 0 ? readLens(results.at(-1) ?? { ok: false, data: '0x' }, traded) : []
  const offers = results.values()

  const plans: ActionPlan<Evm>[] = []
  for (const [index, { action, pair }] of named.entries()) {
    if (action.do === 'create') {
      const found = books[traded.indexOf(pair)]
      if (!found) throw new Error('The offers of a market that is traded in were not read.')
      plans.push({ covers: [index], plan: planOrder({ market, owner, pair, order: action.order, offers: found }) })
    } else {
      const id = idOf(action.order)
      if (!isOwn(place, pair, owner, offers.next().value)) throw await whyNot(reader, place, pair, owner, id, at)
      plans.push({ covers: [index], plan: planCancel(market, owner, id) })
    }
  }
  return plans
}

function isOwn({ market }: Place, { base, quote }: Pair, owner: string, result: CallResult | undefined): boolean {
  const offer = answered(market, 'offers', result)
  const tokens = [offer['pay_gem'], offer['buy_gem']]
  return offer['owner'] === owner && tokens.includes(base.address) && tokens.includes(quote.address)
}

/** The market forgets an offer that is over, and only its logs tell whose it was. */
async function whyNot(reader: EvmReader, place: Place, pair: Pair, owner: string, id: string, at: At) {
  const own = (await ownOffers(reader, place, owner, at)).find((offer) => offer.id === id && offer.pair === pair)
  return own ? isOver(id, own.killed ? 'cancelled' : 'filled') : unknownOrder(id)
}
