import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

// By network: the factory, and the keccak256 of the pairs' creation code. Both differ between networks.
const deployments = {
  'ethereum/local': {
    factory: '0x380a4665bB93934492e18c27d91299Aa87C4922e',
    initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  },
}

export default defineConnector({
  family: evm,
  manifest: {
    name: 'riverswap',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: singleRouterSchema,
  },
  create(venue) {
    const AMM = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments }))
    return { AMM, spenders: AMM.spenders }
  },
})
