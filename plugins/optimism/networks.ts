import type { EvmNetworkTable } from 'sluice/evm'

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 2,
  // What a sequencer that fails over loses has not reached layer 1, where its batches go every few minutes at most: seen are seconds.
  confirmations: 30,
  feeCapGwei: 100,
  rollup: 'op-stack' as const,
}

export const networks = {
  mainnet: { ...shared, chainId: 10, tokens: ['WETH', 'USDC', 'USDT', 'USDC.e', 'OP', 'WBTC', 'DAI'] },
  sepolia: { ...shared, chainId: 11155420, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
