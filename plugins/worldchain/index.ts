import { evmChainPlugin, opStackRollup, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = opStackRollup(2)

export const networks = {
  mainnet: { ...shared, chainId: 480, tokens: ['WETH', 'USDC', 'WLD', 'WBTC'] },
  sepolia: { ...shared, chainId: 4801, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'worldchain', apiVersion: '1.0', networks, list })
