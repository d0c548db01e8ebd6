import { SluiceError, type BookSet } from '../../api/index.ts'
import type { At, BookMarket } from '../../contracts/index.ts'
import { didYouMean } from '../../verbs/did-you-mean.ts'
import type { VenueEntry } from '../registry.ts'
import { bookOf, rootOf } from '../../verbs/clob/book-type.ts'

/** WETH-USDC */
export const nameOf = ({ base, quote }: Pick<BookMarket, 'base' | 'quote'>) => `${base}-${quote}`

/** Lists are long and asked for all the time; an exchange gives the same one until it reads it anew. */
const byName = new WeakMap<readonly BookMarket[], ReadonlyMap<string, BookMarket>>()

function named(markets: readonly BookMarket[]): ReadonlyMap<string, BookMarket> {
  const known = byName.get(markets)
  if (known) return known
  const made = new Map(markets.map((market) => [nameOf(market).toUpperCase(), market]))
  byName.set(markets, made)
  return made
}

/** Markets by the names that callers write, in any letter case. */
export interface Markets {
  readonly all: readonly BookMarket[]
  /** @throws SluiceError UNKNOWN_ORDER */
  find(name: string): BookMarket
}

export async function marketsOf(type: BookSet, venue: Pick<VenueEntry, 'impl' | 'connector'>, at: At): Promise<Markets> {
  const all = await bookOf(type, venue).markets(at)
  return {
    all,
    find(name) {
      const found = named(all).get(name.toUpperCase())
      if (found) return found
      const guess = didYouMean(name.toUpperCase(), [...named(all).keys()])
      throw new SluiceError('UNKNOWN_ORDER', `${venue.connector} has no market ${name}${guess}; GET ${rootOf[type]}/markets lists them.`)
    },
  }
}
