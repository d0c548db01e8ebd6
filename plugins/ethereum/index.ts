import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

// Of tokens.json, chain 31337 is what devnet.ts deploys.
const majors = ['WETH', 'USDC', 'USDT', 'DAI', 'WBTC'] as const
const shared = { nativeCurrency: 'ETH', blockSeconds: 12 }
/** EIP-7825, since Fusaka. */
const maxGas = 16_777_216n

export const networks = {
  mainnet: { ...shared, chainId: 1, tokens: majors, confirmations: 12, maxGas },
  sepolia: { ...shared, chainId: 11155111, tokens: ['WETH', 'USDC'], confirmations: 3, maxGas },
  local: { ...shared, chainId: 31337, tokens: majors, blockSeconds: 1, confirmations: 2, local: true },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'ethereum', apiVersion: '1.0', networks, list })
