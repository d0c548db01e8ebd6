import { sharesConnector } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

// FACTORY_ADDRESS and INIT_CODE_HASH of npm @traderjoe-xyz/sdk 5.0.16: its first version, whose pools are constant products.
const initCodeHash = '0x0bbca9af0511ad1a1da383135cf3a8d2ac620e549ef9f6ae3a4c33c2fed0af91'

export const deployments = {
  'avalanche/mainnet': { factory: '0x9Ad6C38BE94206cA50bb0d90783181662f0Cfa10', initCodeHash },
  'avalanche/fuji': {
    factory: '0xF5c7d9733e5f53abCC1695820c4818C59B457C2C',
    initCodeHash: '0x6c67ac67d0dad54be7b066edd9b4154fb5a0ab7d01232259b9ff26ebc1739ba2',
  },
  // This folder's devnet.ts, with the factory that is on Avalanche: its pairs are the same.
  'ethereum/local': { factory: '0x3c1679689306Bc0d53DE751a0207352213F91B93', initCodeHash },
}

export default sharesConnector({ name: 'traderjoe', apiVersion: '1.0', deployments }, (venue) =>
  uniswapV2(venue, { fee: [3n, 1000n], coin: 'AVAX', deployments }),
)
