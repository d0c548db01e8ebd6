import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'

export default uniswapV2Devnet({
  name: 'pangolin',
  contracts: { factory: 'PangolinFactory', router: 'PangolinRouter', moduleUrl: import.meta.url },
  pools: [
    ['WETH', '400', 'USDC', '1197000'],
    ['WETH', '250', 'DAI', '752000'],
  ],
})
