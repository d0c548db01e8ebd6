import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

// Shallower than Uniswap's pools and priced a little apart, so that the two can be told from each other.
export default uniswapV2Devnet({
  name: 'sushiswap',
  pools: [
    ['WETH', '2000', 'USDC', '6040000'],
    ['WETH', '1500', 'DAI', '4470000'],
    ['WETH', '800', 'WBTC', '40.2'],
  ],
})
