import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'quickswap',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_SHARES'],
    available_networks: networksIn(deployments),
    schema: singleRouterSchema,
  },
  create(venue) {
    const v2 = uniswapV2(venue, { fee: [3n, 1000n], deployments })
    const AMM = poolAMM(venue, v2)
    return { AMM, AMM_SHARES: v2.shares, spenders: AMM.spenders }
  },
})
