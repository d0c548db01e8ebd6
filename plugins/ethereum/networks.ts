import { multicall3 } from 'sluice/evm'
import type { EvmNetwork } from 'sluice/evm'
import type { Token } from 'sluice/plugin'
// Its entries: npm @uniswap/default-token-list 22.21.0; USDC on sepolia from Circle
// (https://developers.circle.com/stablecoins/usdc-contract-addresses); chain 31337 is what devnet.ts deploys.
import list from './tokens.json' with { type: 'json' }

// Chain ids and Multicall3: npm viem 2.57.20, `chains`.
export const networks: Readonly<Record<string, EvmNetwork>> = {
  mainnet: { ...usual(1, ['WETH', 'USDC', 'USDT', 'DAI', 'WBTC']), blockSeconds: 12, confirmations: 12 },
  sepolia: { ...usual(11155111, ['WETH', 'USDC']), blockSeconds: 12, confirmations: 3 },
  local: { ...usual(31337, ['WETH', 'USDC', 'USDT', 'DAI', 'WBTC']), blockSeconds: 1, confirmations: 2, local: true },
}

/** What the networks share: ether, the first token wraps it, and routes pass through them all. */
function usual(chainId: number, [wrapping, ...others]: readonly [string, ...string[]]) {
  const wrapped = tokenNamed(chainId, wrapping)
  const intermediates = [wrapped, ...others.map((symbol) => tokenNamed(chainId, symbol))]
  return { chainId, nativeCurrency: 'ETH', wrapped, intermediates, multicall: multicall3 }
}

function tokenNamed(chainId: number, symbol: string): Token {
  const found = list.tokens.find((token) => token.chainId === chainId && token.symbol === symbol)
  if (!found) throw new Error(`tokens.json has no ${symbol} for chain id ${chainId}.`)
  return { symbol, address: found.address, decimals: found.decimals }
}

export function networkNamed(name: string): EvmNetwork {
  const network = Object.hasOwn(networks, name) ? networks[name] : undefined
  if (!network) throw new Error(`Chain ethereum has no network "${name}": it has ${Object.keys(networks).join(', ')}.`)
  return network
}
