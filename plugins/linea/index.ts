import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 2,
  // One sequencer that takes nothing back while it is honest: a minute outlasts a fail-over of its nodes.
  confirmations: 30,
  feeCapGwei: 100,
}

export const networks = {
  mainnet: { ...shared, chainId: 59144, tokens: ['WETH', 'USDC', 'USDT', 'WBTC', 'wstETH', 'mUSD'] },
  sepolia: { ...shared, chainId: 59141, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'linea', apiVersion: '1.0', networks, list })
