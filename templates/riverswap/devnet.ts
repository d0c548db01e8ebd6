import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

// What the server deploys for this connector on its local chain, and how much the pools hold.
export default uniswapV2Devnet({
  name: 'riverswap',
  pools: [
    ['WETH', '500', 'USDC', '1495000'],
    ['WETH', '300', 'DAI', '897000'],
  ],
})
