import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'
import { feeTiers, mixedDeployments, v2Deployments, v3Deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'pancakeswap',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_RANGE', 'AMM_SHARES'],
    available_networks: networksIn(v2Deployments),
    schema: versionedSchema({ v2: ['v2RouterAddress'], v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    // PancakePair, `_mintFee`: 8 of 25 parts of the growth.
    const v2 = uniswapV2(venue, { version: 'v2', fee: [25n, 10_000n], protocolShare: [8n, 25n], deployments: v2Deployments })
    const v3 = uniswapV3(venue, { deployments: v3Deployments, feeTiers, mixedWith: { version: 'v2', deployments: mixedDeployments } })
    const AMM = poolAMM(venue, v2, v3)
    const spenders = { ...AMM.spenders, positions: v3.range.positionManager }
    return { AMM, AMM_RANGE: v3.range, AMM_SHARES: v2.shares, spenders, events: v3Events }
  },
})
