import { algebra, algebraEvents } from 'sluice/algebra'
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'camelot-v4',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: networksIn(deployments),
    schema: singleRouterSchema,
  },
  create(venue) {
    const AMM = poolAMM(venue, algebra(venue, { deployments }))
    return { AMM, spenders: AMM.spenders, events: algebraEvents }
  },
})
