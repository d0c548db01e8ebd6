import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { deployments } from './deployments.ts'
import { pairProtocol } from './pairs.ts'
import { pairRouter } from './router.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'brookswap',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM'],
    available_networks: networksIn(deployments),
    schema: singleRouterSchema,
  },
  create(venue) {
    const { routerAddress = '' } = venue.contracts
    const pairs = deployments[`${venue.chain}/${venue.network}`] ?? []
    const AMM = poolAMM(venue, { protocols: [pairProtocol(pairs)], routers: [pairRouter(routerAddress)] })
    return { AMM, spenders: AMM.spenders }
  },
})
