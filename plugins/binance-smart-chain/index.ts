import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  blockSeconds: 0.45,
  // Votes make a block final two blocks later (BEP-126). Where they lack, a validator's own run of blocks may be taken back: 16 (BEP-524).
  confirmations: 32,
  // Validators take no less since October 2025; the base fee is 0 (BEP-226), so that the tip is all of the price.
  minTipGwei: 0.05,
  feeCapGwei: 100,
  // BEP-652, which is EIP-7825.
  maxGas: 16_777_216n,
}

export const networks = {
  mainnet: { ...shared, chainId: 56, nativeCurrency: 'BNB', tokens: ['WBNB', 'USDT', 'USDC', 'BTCB', 'ETH', 'CAKE', 'USD1', 'FDUSD'] },
  testnet: { ...shared, chainId: 97, nativeCurrency: 'tBNB', tokens: ['WBNB', 'USDT', 'BUSD'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'binance-smart-chain', apiVersion: '1.0', networks, list })
