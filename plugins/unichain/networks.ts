import { opStackRollup } from 'sluice/evm'
import type { EvmNetworkTable } from 'sluice/evm'

const shared = opStackRollup(1)

export const networks = {
  mainnet: { ...shared, chainId: 130, tokens: ['WETH', 'USDC', 'USDT0', 'WBTC', 'UNI', 'DAI'] },
  sepolia: { ...shared, chainId: 1301, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
