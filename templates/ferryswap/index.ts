import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { routerAMM } from './amm.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'ferryswap',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: singleRouterSchema,
  },
  create(venue) {
    const { routerAddress = '' } = venue.contracts
    return { AMM: routerAMM(venue, routerAddress), spenders: { router: routerAddress } }
  },
})
