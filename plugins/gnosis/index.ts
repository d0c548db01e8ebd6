import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  blockSeconds: 5,
  // Ethereum's consensus in slots of 5 s and epochs of 16: reorganisations were a few blocks deep; finality takes two epochs.
  confirmations: 16,
}

export const networks = {
  mainnet: { ...shared, chainId: 100, nativeCurrency: 'XDAI', tokens: ['WXDAI', 'USDC', 'USDC.e', 'WETH', 'GNO', 'USDT', 'sDAI', 'EURe'] },
  chiado: { ...shared, chainId: 10200, nativeCurrency: 'xDAI', tokens: ['WXDAI'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'gnosis', apiVersion: '1.0', networks, list })
