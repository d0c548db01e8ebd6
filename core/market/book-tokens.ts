// Which of a network's tokens an order book's market is of.
import { isSameAddress } from '../base/addresses.ts'
import type { BookMarket, Token } from '../contracts/index.ts'

/** Those of the list: by the address, where the exchange tells it, and else all with the symbol. */
export function tokensOfMarket(
  market: Pick<BookMarket, 'base' | 'quote' | 'tokens'>,
  side: 'base' | 'quote',
  listed: readonly Token[],
): readonly Token[] {
  const { tokens } = market
  if (!tokens) return listed.filter(({ symbol }) => symbol === market[side])
  const address = tokens[side]
  return address === undefined ? [] : listed.filter((token) => isSameAddress(token.address, address))
}
