import type { Verb } from '../../handlers/context.ts'
import { fromRaw } from '../../decimal.ts'
import { answerKey } from '../../handlers/tokens.ts'
import { readAddress } from '../../handlers/wallets.ts'

export const networkBalances: Verb<'NetworkBalances'> = async ({ address, tokenSymbols }, { network, signal }) => {
  const at = { signal }
  const owner = readAddress(network, address)
  const tokens = await network.tokens.resolveAll(tokenSymbols, 'tokenSymbols', at)
  const raws = await network.impl.balances(owner, tokens, at)
  return {
    balances: Object.fromEntries(tokens.map((token, i) => [answerKey(tokenSymbols[i], token), fromRaw(raws[i] ?? 0n, token.decimals)])),
  }
}
