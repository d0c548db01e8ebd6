import type { DevnetPlugin } from '../../core/contracts/devnet.ts'
import { fillBooks, type DevnetBook } from '../../core/kits/oasis/devnet/books.ts'
import { deployMarket, type LeastAmounts } from '../../core/kits/oasis/devnet/market.ts'
import { operatorOf } from '../../core/kits/oasis/devnet/operator.ts'

export type { DevnetBook } from '../../core/kits/oasis/devnet/books.ts'
export { marketOf as oasisDevnetMarket, type LeastAmounts } from '../../core/kits/oasis/devnet/market.ts'

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
