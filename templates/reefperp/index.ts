import { evm } from 'sluice/evm'
import { perp, perpEvents, perpRefusals } from 'sluice/perp'
import { addressesSchema, defineConnector } from 'sluice/plugin'
import { networksIn } from 'sluice/pools'
import { markets } from './markets.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'reefperp',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['PERP_AMM'],
    available_networks: networksIn(markets),
    schema: addressesSchema('routerAddress', 'vaultAddress'),
  },
  create(venue) {
    const PERP_AMM = perp(venue, { markets })
    return { PERP_AMM, spenders: { perp: PERP_AMM.spender }, events: perpEvents, refusals: perpRefusals, start: PERP_AMM.start }
  },
})
