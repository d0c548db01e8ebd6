import type { EvmNetworkTable } from 'sluice/evm'

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 2,
  // A minute: as on other OP-stack rollups, only the newest blocks of a sequencer that fails over can be lost.
  confirmations: 30,
  feeCapGwei: 100,
  rollup: 'op-stack' as const,
}

export const networks = {
  mainnet: { ...shared, chainId: 480, tokens: ['WETH', 'USDC', 'WLD', 'WBTC'] },
  sepolia: { ...shared, chainId: 4801, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
