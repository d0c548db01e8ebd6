import { opStackRollup } from 'sluice/evm'
import type { EvmNetworkTable } from 'sluice/evm'

const shared = opStackRollup(2)

export const networks = {
  mainnet: { ...shared, chainId: 10, tokens: ['WETH', 'USDC', 'USDT', 'USDC.e', 'OP', 'WBTC', 'DAI'] },
  sepolia: { ...shared, chainId: 11155420, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
