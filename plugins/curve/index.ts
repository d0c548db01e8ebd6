import { evm } from 'sluice/evm'
import { defineConnector, withOptionalAddresses } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { stableEvents, stableSwap } from 'sluice/stable'
import { pools } from './pools.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'curve',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: networksIn(pools),
    schema: withOptionalAddresses(['routerAddress'], ['exchangeRouterAddress']),
  },
  create(venue) {
    const AMM = poolAMM(venue, stableSwap(venue, { pools }))
    return { AMM, spenders: AMM.spenders, events: stableEvents }
  },
})
