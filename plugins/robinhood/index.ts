import { evmChainPlugin, nitroChain, type EvmNetworkTable } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

// https://docs.robinhood.com/chain/differences-from-ethereum
export const networks = {
  mainnet: { ...nitroChain(0.1), chainId: 4663, tokens: ['WETH', 'USDG', 'cbBTC'] },
} satisfies Record<string, EvmNetworkTable>

export default evmChainPlugin({ name: 'robinhood', apiVersion: '1.0', networks, list })
