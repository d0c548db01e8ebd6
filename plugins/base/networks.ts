import type { EvmNetworkTable } from 'sluice/evm'

const shared = {
  nativeCurrency: 'ETH',
  blockSeconds: 2,
  // A minute: as on other OP-stack rollups, only the newest blocks of a sequencer that fails over can be lost.
  confirmations: 30,
  feeCapGwei: 100,
  // EIP-7825, since Azul: https://docs.base.org/upgrades/azul/exec-engine
  mostGas: 16_777_216n,
  rollup: 'op-stack' as const,
}

export const networks = {
  mainnet: { ...shared, chainId: 8453, tokens: ['WETH', 'USDC', 'cbBTC', 'USDbC', 'AERO', 'VIRTUAL', 'DAI'] },
  sepolia: { ...shared, chainId: 84532, tokens: ['WETH', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>
