import { readAddress } from '../wallets.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import type { ForBook } from '../../verbs/clob/book-verb.ts'
import { plain } from '../../verbs/clob/figures/exact.ts'

export const balances: ForBook<'Balances'> =
  (type) =>
  async (request, { network, venue, signal }) => {
    const held = await bookOf(type, venue).balances(readAddress(network, request.address), { signal })
    const shown = held.map(({ symbol, total, available, locked }) => {
      return [symbol, { total: plain(total), available: plain(available), locked: plain(locked) }] as const
    })
    return { balances: Object.fromEntries(shown) }
  }
