import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
import { uniswapV3Devnet } from 'sluice/uniswap-v3/devnet'

// Shallower than Uniswap's pools and priced a little apart, so that the two can be told from each other.
const v2 = uniswapV2Devnet({
  name: 'sushiswap',
  pools: [
    ['WETH', '2000', 'USDC', '6040000'],
    ['WETH', '1500', 'DAI', '4470000'],
    ['WETH', '800', 'WBTC', '40.2'],
  ],
})

export default uniswapV3Devnet({
  v2,
  router: 'SwapRouter',
  pools: [
    {
      pair: ['WETH', 'USDC'],
      fee: 3000,
      price: 3018,
      positions: [
        [300, 30_000, '400'],
        [2800, 3200, '150'],
      ],
    },
    { pair: ['USDC', 'USDT'], fee: 100, price: 0.9998, positions: [[0.98, 1.02, '400000']] },
  ],
})
