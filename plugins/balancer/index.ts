import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { weighted, weightedEvents } from 'sluice/weighted'
import { pools } from './pools.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'balancer',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_SHARES'],
    available_networks: networksIn(pools),
    schema: singleRouterSchema,
  },
  create(venue) {
    const inVault = weighted(venue, { pools })
    const AMM = poolAMM(venue, inVault)
    return { AMM, AMM_SHARES: inVault.shares, spenders: AMM.spenders, events: weightedEvents }
  },
})
