import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { deployments } from './deployments.ts'

export default defineConnector({
  family: evm,
  manifest: {
    name: 'sushiswap',
    apiVersion: '1.0',
    trading_type: ['AMM'],
    available_networks: [{ chain: 'ethereum', networks: ['mainnet', 'sepolia', 'local'] }],
    schema: singleRouterSchema,
  },
  create(venue) {
    const amm = uniswapV2(venue, { fee: [3n, 1000n], deployments })
    return { AMM: amm, spenders: { v2: amm.router } }
  },
})
