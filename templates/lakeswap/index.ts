import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'
import { deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'lakeswap',
    apiVersion: '1.0',
    version: '0.1.0',
    trading_type: ['AMM', 'AMM_RANGE'],
    available_networks: networksIn(deployments),
    schema: versionedSchema({ v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    const v3 = uniswapV3(venue, { deployments })
    const AMM = poolAMM(venue, v3)
    return { AMM, AMM_RANGE: v3.range, spenders: { ...AMM.spenders, positions: v3.range.positionManager }, events: v3Events }
  },
})
