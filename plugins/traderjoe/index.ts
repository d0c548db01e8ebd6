import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'traderjoe',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: networksIn(deployments),
    schema: singleRouterSchema,
  },
  create(venue) {
    const AMM = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], coin: 'AVAX', deployments }))
    return { AMM, spenders: AMM.spenders }
  },
})
