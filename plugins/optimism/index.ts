import { evmChainPlugin, opStackRollup, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = opStackRollup(2)

export const networks = {
  mainnet: { ...shared, chainId: 10, tokens: ['WETH', 'USDC', 'USDT', 'USDC.e', 'OP', 'WBTC', 'DAI'] },
  sepolia: { ...shared, chainId: 11155420, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'optimism', apiVersion: '1.0', networks, list })
