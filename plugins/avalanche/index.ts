import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  nativeCurrency: 'AVAX',
  blockSeconds: 1,
  // Snowman: nodes show accepted blocks only, and those are final. The rest is for nodes behind one address that are not level.
  confirmations: 3,
}

export const networks = {
  mainnet: { ...shared, chainId: 43114, tokens: ['WAVAX', 'USDC', 'USDT', 'WETH', 'BTC.b', 'USDC.e', 'USDT.e', 'sAVAX'] },
  fuji: { ...shared, chainId: 43113, tokens: ['WAVAX', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'avalanche', apiVersion: '1.0', networks, list })
