import { evmChainPlugin } from 'sluice/evm'
import list from './tokens.json' with { type: 'json' }

export default evmChainPlugin({
  name: 'sonic',
  apiVersion: '1.0',
  version: '0.1.0',
  list,
  networks: {
    // Final within a second. The depth covers the lag between nodes behind one address.
    mainnet: { chainId: 146, nativeCurrency: 'S', tokens: ['wS', 'USDC', 'WETH'], blockSeconds: 0.6, confirmations: 3 },
  },
})
