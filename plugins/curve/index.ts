import { evm } from 'sluice/evm'
import { defineConnector, withOptionalAddresses } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { stableEvents, stableSwap } from 'sluice/stable'
import { pools } from './pools.ts'

const poolKeys = [
  ...new Set(Object.values(pools).flatMap((listed) => listed.flatMap(({ shares }) => (shares ? [`${shares.label}Address`] : [])))),
]

export default defineConnector({
  family: evm,
  manifest: {
    name: 'curve',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_SHARES'],
    available_networks: networksIn(pools),
    // The pools take deposits themselves. A network has those that are on it.
    schema: withOptionalAddresses(['routerAddress'], ['exchangeRouterAddress', ...poolKeys]),
  },
  create(venue) {
    const stable = stableSwap(venue, { pools })
    const AMM = poolAMM(venue, stable)
    return { AMM, AMM_SHARES: stable.shares, spenders: AMM.spenders, events: stableEvents }
  },
})
