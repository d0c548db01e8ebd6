import { evm } from 'sluice/evm'
import { oasis, oasisEvents, oasisRefusals } from 'sluice/oasis'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { networksIn } from 'sluice/pools'
import { markets } from './markets.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'oasis',
    apiVersion: '1.0',
    trading_type: ['CLOB'],
    available_networks: networksIn(markets),
    schema: singleRouterSchema,
  },
  create(venue) {
    const CLOB = oasis(venue, { markets })
    return { CLOB, spenders: { oasis: CLOB.spender }, events: oasisEvents, refusals: oasisRefusals }
  },
})
