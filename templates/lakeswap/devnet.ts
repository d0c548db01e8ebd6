import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
import { uniswapV3Devnet } from 'sluice/uniswap-v3/devnet'

export default uniswapV3Devnet({
  // SwapRouter02 takes a v2 factory as constructor argument; this one has no pools.
  v2: uniswapV2Devnet({ name: 'lakeswap', pools: [] }),
  pools: [
    {
      pair: ['WETH', 'USDC'],
      fee: 3000,
      price: 3000,
      // Lower price, upper price, and how much WETH at most.
      positions: [
        [300, 30_000, '400'],
        [2800, 3200, '150'],
      ],
    },
    { pair: ['USDC', 'USDT'], fee: 100, price: 0.9998, positions: [[0.98, 1.02, '400000']] },
  ],
})
