import { opStackRollup } from 'sluice/evm'
import type { EvmNetworkTable } from 'sluice/evm'

const shared = opStackRollup(2)

export const networks = {
  mainnet: { ...shared, chainId: 480, tokens: ['WETH', 'USDC', 'WLD', 'WBTC'] },
  sepolia: { ...shared, chainId: 4801, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
