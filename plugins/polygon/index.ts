import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  nativeCurrency: 'POL',
  // The contract that moves POL as a token does: https://docs.polygon.technology/pos/reference/contracts/genesis-contracts
  coinAddresses: ['0x0000000000000000000000000000000000001010'],
  blockSeconds: 1.75,
  // Milestones make blocks final within seconds; where they stop, as they have for hours, a minute is what blocks were ever taken back.
  confirmations: 36,
  // PIP-35: no node takes less.
  minTipGwei: 25,
  // The base fee has been over 1,000 gwei; a swap at this price costs a few POL.
  feeCapGwei: 5000,
  // The rationale of EIP-8123 names Polygon's.
  maxGas: 32_000_000n,
}

export const networks = {
  mainnet: { ...shared, chainId: 137, tokens: ['WPOL', 'USDC', 'USDC.e', 'USDT', 'WETH', 'WBTC', 'DAI'] },
  amoy: { ...shared, chainId: 80002, tokens: ['WPOL', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'polygon', apiVersion: '1.0', networks, list })
