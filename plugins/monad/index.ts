import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  nativeCurrency: 'MON',
  blockSeconds: 0.4,
  // MonadBFT: a block is final two blocks later. The rest is for nodes behind one address that are not level.
  confirmations: 5,
  // The base fee is 100 gwei at least.
  feeCapGwei: 2000,
  // https://docs.monad.xyz/developer-essentials/gas-pricing
  maxGas: 30_000_000n,
  gasLimitIsPaid: true,
  // https://docs.monad.xyz/developer-essentials/reserve-balance
  reserveBalance: { amount: '10', blocks: 3 },
}

export const networks = {
  mainnet: { ...shared, chainId: 143, tokens: ['WMON', 'USDC', 'USDT', 'WETH', 'WBTC'] },
  testnet: { ...shared, chainId: 10143, tokens: ['WMON', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'monad', apiVersion: '1.0', networks, list })
