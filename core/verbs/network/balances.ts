import type { Verb } from '../context.ts'
import { fromRaw } from '../amounts.ts'
import { readAddress } from '../wallets.ts'

export const networkBalances: Verb<'NetworkBalances'> = async ({ address, tokenSymbols }, { network, signal }) => {
  const at = { signal }
  const owner = readAddress(network, address)
  const tokens = await network.tokens.resolveAll(tokenSymbols, 'tokenSymbols', at)
  const raws = await network.impl.balances(owner, tokens, at)
  return {
    balances: Object.fromEntries(
      tokens.map(({ symbol, decimals }, i) => [symbolKey(tokenSymbols[i], symbol), fromRaw(raws[i] ?? 0n, decimals)]),
    ),
  }
}

/** The listed spelling of a symbol; a token asked for by address answers under that address. */
const symbolKey = (asked: string | undefined, symbol: string) =>
  asked?.toLowerCase() === symbol.toLowerCase() ? symbol : (asked ?? symbol)
