import { sharesConnector } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
import { deployments } from './deployments.ts'

export default sharesConnector({ name: 'traderjoe', apiVersion: '1.0', deployments }, (venue) =>
  uniswapV2(venue, { fee: [3n, 1000n], coin: 'AVAX', deployments }),
)
