import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { v2Deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'uniswap',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['mainnet', 'sepolia', 'local'] }],
    schema: versionedSchema({ v2: ['v2RouterAddress'] }),
  },
  create(venue) {
    const AMM = poolAMM(venue, uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments }))
    return { AMM, spenders: AMM.spenders }
  },
})
