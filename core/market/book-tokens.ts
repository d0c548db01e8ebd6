// Which of a network's tokens an order book's market is of.
import { isSameAddress } from '../base/addresses.ts'
import type { BookMarket, Token } from '../contracts/index.ts'

/**
 * Those of the list: by the address, where the exchange tells it, and else all with the symbol. A request names symbols: by the word of a contained
 * plugin these stand for no other tokens than the list says.
 */
export function tokensOfMarket(
  market: Pick<BookMarket, 'base' | 'quote' | 'tokens'>,
  side: 'base' | 'quote',
  listed: readonly Token[],
  { contained = false }: { readonly contained?: boolean } = {},
): readonly Token[] {
  const { tokens } = market
  const named = tokens && !contained ? listed : listed.filter(({ symbol }) => symbol === market[side])
  if (!tokens) return named
  const address = tokens[side]
  return address === undefined ? [] : named.filter((token) => isSameAddress(token.address, address))
}
