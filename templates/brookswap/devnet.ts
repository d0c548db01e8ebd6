import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

// The exchange that the tests trade on. Uniswap's contracts stand here for those of the exchange: they have the same functions.
export default uniswapV2Devnet({
  name: 'brookswap',
  pools: [
    ['WETH', '500', 'USDC', '1495000'],
    ['WETH', '300', 'DAI', '897000'],
  ],
})
