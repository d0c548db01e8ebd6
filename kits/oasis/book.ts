import type { FollowedBooks, Venue } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import type { Place } from './contract.ts'
import { offerLens, readLens } from './lens.ts'
import { apply } from '../../core/kits/oasis/books/apply.ts'
import { followed, pairsOfLog } from './events.ts'
import { lastPrices } from '../../core/kits/oasis/books/last-prices.ts'
import { show } from '../../core/kits/oasis/books/show.ts'
import { stateOf, type OasisState } from '../../core/kits/oasis/books/state.ts'

/** The exchange's books, read in one call and moved by what the market logs. */
export function oasisBooks({ reader, log }: Venue<Evm>, place: Place): FollowedBooks<Evm, OasisState> {
  return {
    follow: followed,
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
    show,
  }
}
