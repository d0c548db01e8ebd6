import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

export default uniswapV2Devnet({
  name: 'uniswap',
  pools: [
    ['WETH', '10000', 'USDC', '30000000'],
    ['WETH', '8000', 'DAI', '24000000'],
    ['WETH', '8000', 'USDT', '24000000'],
    ['WETH', '10000', 'WBTC', '500'],
    ['USDC', '20000000', 'USDT', '20000000'],
    ['DAI', '20000000', 'USDC', '20000000'],
  ],
})
