import { evmChainPlugin, opStackRollup, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = opStackRollup(1)

export const networks = {
  mainnet: { ...shared, chainId: 130, tokens: ['WETH', 'USDC', 'USDT0', 'WBTC', 'UNI', 'DAI'] },
  sepolia: { ...shared, chainId: 1301, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'unichain', apiVersion: '1.0', networks, list })
