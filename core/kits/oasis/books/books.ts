import type { FollowedBooks } from '../../../contracts/index.ts'
import type { Evm, EvmReader } from '../../evm/types.ts'
import type { Place } from '../pairs.ts'
import { offerLens, readLens } from '../reading/lens.ts'
import { apply } from './apply.ts'
import { followed, pairsOfLog } from './change.ts'
import { show } from './show.ts'
import { stateOf, type OasisState } from './state.ts'

/** The exchange's books, read in one call and moved by what the market logs. */
export function oasisBooks(reader: EvmReader, place: Place): FollowedBooks<Evm, OasisState> {
  return {
    follow: followed,
    keysOf: (log) => pairsOfLog(place, log).map(({ id }) => id),
    async load(keys, after, at) {
      const pairs = place.pairs.filter(({ id }) => keys.includes(id))
      const { head, results } = await reader.read([offerLens(place.market, pairs)], at, after)
      const found = readLens(results[0] ?? { ok: false, data: '0x' }, pairs)
      const states = pairs.flatMap((pair, index) => {
        const offers = found[index]
        return offers ? [[pair.id, stateOf(pair, offers)] as const] : []
      })
      return { head, states: new Map(states) }
    },
    apply,
    keyOfMarket: ({ id }) => id,
    show,
  }
}
