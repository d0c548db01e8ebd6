import type { EvmNetworkTable } from 'sluice/evm'

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 0.25,
  // One sequencer orders all and takes nothing back while it is honest: a minute outlasts a fail-over of its nodes.
  confirmations: 240,
  feeCapGwei: 100,
  // The rationale of EIP-8123 names Arbitrum's.
  maxGas: 32_000_000n,
  // https://docs.arbitrum.io/how-arbitrum-works/gas-fees
  gasPaysLayer1: true,
  // NUMBER is layer 1's block there. ArbSys.arbBlockNumber(): npm @arbitrum/nitro-contracts, src/precompiles/ArbSys.sol.
  blockNumberCall: { to: '0x0000000000000000000000000000000000000064', data: '0xa3b1b31d' },
}

export const networks = {
  mainnet: { ...shared, chainId: 42161, tokens: ['WETH', 'USDC', 'USDT0', 'USDC.e', 'WBTC', 'DAI', 'ARB'] },
  sepolia: { ...shared, chainId: 421614, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
