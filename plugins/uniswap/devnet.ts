import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
import { uniswapV3Devnet } from 'sluice/uniswap-v3/devnet'

const v2 = uniswapV2Devnet({
  name: 'uniswap',
  pools: [
    ['WETH', '10000', 'USDC', '30000000'],
    ['WETH', '8000', 'DAI', '24000000'],
    ['WETH', '8000', 'USDT', '24000000'],
    ['WETH', '10000', 'WBTC', '500'],
    ['USDC', '20000000', 'USDT', '20000000'],
    ['DAI', '20000000', 'USDC', '20000000'],
    ['WETH', '100', 'TAX', '300000'],
  ],
})

/** Some in a wide range, more about the price, and some to either side of it. */
const spread = (price: number, amount: number) =>
  [
    [price / 10, price * 10, `${amount}`],
    [price / 1.2, price * 1.25, `${amount / 2}`],
    [price / 1.05, price * 1.04, `${amount / 10}`],
    [price / 1.5, price / 1.1, `${amount / 10}`],
  ] as const
const stable = (amount: number) =>
  [
    [0.9, 1.1, `${amount / 10}`],
    [0.995, 1.005, `${amount}`],
    [0.9995, 1.0004, `${amount}`],
  ] as const

export default uniswapV3Devnet({
  v2,
  pools: [
    { pair: ['WETH', 'USDC'], fee: 500, price: 3001, positions: spread(3000, 4000) },
    { pair: ['WETH', 'USDC'], fee: 3000, price: 2999, positions: spread(3000, 2000) },
    { pair: ['WETH', 'USDC'], fee: 10000, price: 3005, positions: spread(3000, 100) },
    { pair: ['WETH', 'USDT'], fee: 500, price: 2998, positions: spread(3000, 2000) },
    { pair: ['WETH', 'DAI'], fee: 3000, price: 3002, positions: spread(3000, 1000) },
    { pair: ['WBTC', 'WETH'], fee: 3000, price: 20.01, positions: spread(20, 100) },
    { pair: ['WBTC', 'USDC'], fee: 3000, price: 60010, positions: spread(60000, 20) },
    { pair: ['USDC', 'USDT'], fee: 100, price: 1.0001, positions: stable(1_000_000) },
    { pair: ['DAI', 'USDC'], fee: 100, price: 0.9999, positions: stable(1_000_000) },
    { pair: ['DAI', 'USDC'], fee: 500, price: 1, positions: stable(200_000) },
  ],
})
