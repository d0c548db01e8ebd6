import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
import { uniswapV3Devnet } from 'sluice/uniswap-v3/devnet'

const v2 = uniswapV2Devnet({
  name: 'pancakeswap',
  contracts: { factory: 'PancakeFactory', router: 'PancakeRouter', moduleUrl: import.meta.url },
  pools: [
    ['WETH', '700', 'USDC', '2093000'],
    ['WETH', '350', 'WBTC', '17.6'],
  ],
})

export default uniswapV3Devnet({
  v2,
  pools: [
    {
      pair: ['WETH', 'USDC'],
      fee: 2500,
      price: 3004,
      positions: [
        [300, 30_000, '300'],
        [2700, 3300, '200'],
      ],
    },
    { pair: ['USDC', 'USDT'], fee: 100, price: 1.0002, positions: [[0.99, 1.01, '300000']] },
  ],
})
