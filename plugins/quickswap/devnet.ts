import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

export default uniswapV2Devnet({
  name: 'quickswap',
  pools: [
    ['WETH', '600', 'USDC', '1795000'],
    ['USDC', '900000', 'USDT', '901000'],
  ],
})
