import type { CLOB, Venue } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { oasisBooks } from './book.ts'
import { lockedBy } from '../../core/kits/oasis/history/locked.ts'
import { ownLogs, takesOf } from '../../core/kits/oasis/history/offer-logs.ts'
import { orderOf } from '../../core/kits/oasis/history/orders.ts'
import { loggedOffers, ownOffers } from './own-orders.ts'
import { tradesOfMakers, tradesOfTakers } from '../../core/kits/oasis/history/trades.ts'
import { keepMarkets } from '../../core/kits/oasis/markets-kept.ts'
import type { OasisOptions } from '../../core/kits/oasis/options.ts'
import { act } from './plan.ts'
import { typicalGasUnits } from '../../core/kits/oasis/orders/gas.ts'
import { outcome } from './outcome.ts'
import { pairOfMarket, placeOf } from './contract.ts'
import { readMarkets } from '../../core/kits/oasis/reading/rules.ts'

/** A matching market on one network. `spender`: what takes from wallets what their orders pay. */
export type Oasis = CLOB<Evm> & { readonly spender: string }

/** Throws where the plugin or its configuration lacks the network. */
export function oasis(venue: Venue<Evm>, options: OasisOptions): Oasis {
  const { reader } = venue
  const place = placeOf(venue, options)
  const markets = keepMarkets((at) => readMarkets(reader, place, at), venue.log)

  return {
    spender: place.market,
    typicalGasUnits,
    markets,
    books: oasisBooks(venue, place),
    async orders(owner, { market, names }, at) {
      const [known, offers] = await Promise.all([markets(), ownOffers(reader, place, owner, at)])
      const ids = names?.map(({ orderId }) => orderId)
      return offers.flatMap((offer) => {
        const ofOffer = known.find(({ id }) => id === offer.pair.id)
        const isAsked = ofOffer && (!market || market.id === ofOffer.id) && (!ids || ids.includes(offer.id))
        return isAsked ? [orderOf(offer, ofOffer)] : []
      })
    },
    async trades({ market, owner, orderId, limit, before = Infinity }, at) {
      const pair = pairOfMarket(place, market)
      const all = owner === undefined ? tradesOfTakers(await takesOf(reader, place, [pair], 0, at), market) : await tradesOf(owner, at)
      const asked = all.filter((trade) => trade.timestamp < before && (orderId === undefined || trade.orderId === orderId))
      return asked.slice(0, limit)

      async function tradesOf(wallet: string, wait: typeof at) {
        const { did, taken } = await ownLogs(reader, place, wallet, wait)
        const came = did.filter(({ is }) => is === 'taken')
        const both = [...tradesOfTakers(came, market, loggedOffers(did, taken)), ...tradesOfMakers(taken, market)]
        return both.toSorted((a, b) => b.timestamp - a.timestamp)
      }
    },
    balances: async (owner, at) => lockedBy(await ownOffers(reader, place, owner, at)),
    act: (owner, actions, at) => act(reader, place, owner, actions, at),
    outcome,
  }
}
