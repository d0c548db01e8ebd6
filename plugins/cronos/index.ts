import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  blockSeconds: 0.5,
  // CometBFT: a block is final when it is there. The rest is for nodes behind one address that are not level.
  confirmations: 3,
  // The base fee alone is hundreds of gwei; a swap at this price costs a few CRO.
  feeCapGwei: 20_000,
}

export const networks = {
  // USDC.e is what crypto.com bridged, and what most pools hold; USDC is Circle's own.
  mainnet: { ...shared, chainId: 25, nativeCurrency: 'CRO', tokens: ['WCRO', 'USDC.e', 'WETH', 'WBTC', 'USDC'] },
  testnet: { ...shared, chainId: 338, nativeCurrency: 'tCRO', tokens: ['WCRO', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'cronos', apiVersion: '1.0', networks, list })
