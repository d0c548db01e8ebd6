import { nitroChain, type EvmNetworkTable } from 'sluice/evm'

// https://docs.robinhood.com/chain/differences-from-ethereum
export const networks = {
  mainnet: { ...nitroChain(0.1), chainId: 4663, tokens: ['WETH', 'USDG', 'cbBTC'] },
} satisfies Record<string, EvmNetworkTable>
