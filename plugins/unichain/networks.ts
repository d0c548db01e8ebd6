import type { EvmNetworkTable } from 'sluice/evm'

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 1,
  // A minute: as on other OP-stack rollups, only the newest blocks of a sequencer that fails over can be lost.
  confirmations: 60,
  feeCapGwei: 100,
  rollup: 'op-stack' as const,
}

export const networks = {
  mainnet: { ...shared, chainId: 130, tokens: ['WETH', 'USDC', 'USDT0', 'WBTC', 'UNI', 'DAI'] },
  sepolia: { ...shared, chainId: 1301, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
