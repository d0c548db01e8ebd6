import { evmChainPlugin, nitroChain, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = nitroChain(0.25)

export const networks = {
  mainnet: { ...shared, chainId: 42161, tokens: ['WETH', 'USDC', 'USDT0', 'USDC.e', 'WBTC', 'DAI', 'ARB'] },
  sepolia: { ...shared, chainId: 421614, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'arbitrum', apiVersion: '1.0', networks, list })
