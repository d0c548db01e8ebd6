import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

// The exchange that the tests trade on: the kit's, with these pools.
export default uniswapV2Devnet({
  name: 'rillswap',
  pools: [
    ['WETH', '500', 'USDC', '1495000'],
    ['WETH', '300', 'DAI', '897000'],
  ],
})
