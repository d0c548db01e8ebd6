import type { EvmNetworkTable } from 'sluice/evm'

// HyperEVM. Transactions go into its small blocks, one a second; the big ones, one a minute, are for who asks the exchange for them:
// https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/hyperevm/dual-block-architecture
const shared = {
  nativeCurrency: 'HYPE',
  blockSeconds: 1,
  // HyperBFT: a block is final when it is there. The rest is for nodes behind one address that are not level.
  confirmations: 5,
  feeCapGwei: 500,
  // A small block's.
  maxGas: 3_000_000n,
}

export const networks = {
  mainnet: { ...shared, chainId: 999, tokens: ['WHYPE', 'USDC'] },
  testnet: { ...shared, chainId: 998, tokens: ['WHYPE', 'USDC'] },
  // The node beside the simulator of the exchange; the chain id is nobody's.
  local: { ...shared, chainId: 31338, tokens: ['WHYPE', 'USDC'], local: true },
} satisfies Record<string, EvmNetworkTable>
