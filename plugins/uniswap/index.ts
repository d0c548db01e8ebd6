import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { joinedRanges, networksIn, poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { uniswapV3, v3Events } from 'sluice/uniswap-v3'
import { poolKeysSchema, signedPermitsSchema, uniswapV4, v4Events } from 'sluice/uniswap-v4'
import { v2Deployments, v3Deployments, v4Deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'uniswap',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_RANGE', 'AMM_SHARES'],
    available_networks: networksIn(v2Deployments),
    schema: versionedSchema(
      { v2: ['v2RouterAddress'], v3: ['v3RouterAddress', 'positionManagerAddress'], v4: [] },
      { v4Pools: poolKeysSchema, signedPermits: signedPermitsSchema },
      ['v4RouterAddress', 'permit2Address', 'v4PositionManagerAddress'],
    ),
  },
  create(venue) {
    const v2 = uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments })
    const v3 = uniswapV3(venue, { deployments: v3Deployments, mixedWith: { version: 'v2', deployments: v2Deployments } })
    const v4 = uniswapV4(venue, { deployments: v4Deployments, mixedWith: { constantProduct: 'v2', range: 'v3' } })
    const { spenders: routers, permit2, ...AMM } = poolAMM(venue, v2, v3, v4)
    const v4Positions = v4?.range?.positionManager
    const spenders = { ...routers, positions: v3.range.positionManager, ...(v4Positions !== undefined && { v4Positions }) }
    const byPermit2 = permit2 && { ...permit2, spenders: [...permit2.spenders, ...(v4Positions === undefined ? [] : [v4Positions])] }
    const events = [...v3Events, ...v4Events]
    const AMM_RANGE = joinedRanges(v3.range, v4?.range)
    return { AMM, AMM_RANGE, AMM_SHARES: v2.shares, spenders, ...(byPermit2 && { permit2: byPermit2 }), events }
  },
})
