import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

export default uniswapV2Devnet({
  name: 'traderjoe',
  contracts: { factory: 'JoeFactory', router: 'JoeRouter02', moduleUrl: import.meta.url },
  pools: [
    ['WETH', '500', 'USDC', '1504000'],
    ['WETH', '300', 'WBTC', '14.95'],
  ],
})
