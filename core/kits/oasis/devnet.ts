import type { DevnetPlugin } from '../../testing/devnet-plugin.ts'
import { fillBooks, type DevnetBook } from './devnet/books.ts'
import { deployMarket, type LeastAmounts } from './devnet/market.ts'
import { operatorOf } from './devnet/operator.ts'

export type { DevnetBook } from './devnet/books.ts'
export { marketOf as oasisDevnetMarket, type LeastAmounts } from './devnet/market.ts'

export interface OasisDevnetOptions {
  readonly name: string
  /** Base and quote of its markets, by their addresses on the devnet. */
  readonly pairs: readonly (readonly [base: string, quote: string])[]
  readonly books: readonly DevnetBook[]
  readonly least: LeastAmounts
}

/** Puts a matching market on the devnet, with somebody's offers on both sides of its books. */
export function oasisDevnet({ name, pairs, books, least }: OasisDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      await fillBooks(site, await deployMarket(site, least), books)
    },
    bookOperators: async (site) => ({ CLOB: await operatorOf(site, pairs) }),
  }
}
