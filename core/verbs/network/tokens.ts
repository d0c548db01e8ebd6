import type { Verb } from '../../handlers/context.ts'

export const networkTokens: Verb<'NetworkTokens'> = async ({ tokenSymbols }, { network: { chain, network, tokens }, signal }) => {
  const wanted = tokenSymbols === undefined ? tokens.listed : await tokens.resolveAll(tokenSymbols, 'tokenSymbols', { signal })
  return wanted.map(({ symbol, address, decimals }) => ({ chain, network, symbol, address, decimals }))
}
