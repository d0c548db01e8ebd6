import { evmChainPlugin, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

const shared = {
  blockSeconds: 1,
  // A minute: as on other OP-stack rollups, only the newest blocks of a sequencer that fails over can be lost.
  confirmations: 60,
  // An OP-stack rollup whose data fee and operator fee are always zero: https://docs.celo.org/specs/transaction-fees
  coinIsToken: true,
}

export const networks = {
  mainnet: { ...shared, chainId: 42220, nativeCurrency: 'CELO', tokens: ['CELO', 'USDm', 'USDC', 'USDT', 'WETH', 'EURm'] },
  sepolia: { ...shared, chainId: 11142220, nativeCurrency: 'S-CELO', tokens: ['CELO', 'USDm', 'USDC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'celo', apiVersion: '1.0', networks, list })
