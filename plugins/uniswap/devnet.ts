import { uniswapV2Devnet } from 'sluice/uniswap-v2/devnet'
import { uniswapV3Devnet } from 'sluice/uniswap-v3/devnet'
import { uniswapV4Devnet } from 'sluice/uniswap-v4/devnet'
import { v2Deployments, v3Deployments } from './deployments.ts'

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

const v3 = uniswapV3Devnet({
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

export default uniswapV4Devnet({
  v3,
  initCodeHashes: { v2: v2Deployments['ethereum/local'].initCodeHash, v3: v3Deployments['ethereum/local'].initCodeHash },
  pools: [
    {
      pair: ['ETH', 'USDC'],
      fee: 500,
      tickSpacing: 10,
      price: 3000,
      positions: [
        [2000, 4500, '200'],
        [2900, 3100, '50'],
      ],
    },
    { pair: ['WETH', 'USDC'], fee: 3000, tickSpacing: 60, price: 3001, positions: [[2000, 4500, '100']] },
    { pair: ['ETH', 'DAI'], fee: 3000, tickSpacing: 60, price: 3002, positions: [[2000, 4500, '100']] },
    { pair: ['USDC', 'USDT'], fee: 100, tickSpacing: 1, price: 1, positions: stable(100_000) },
    { pair: ['DAI', 'USDC'], fee: 500, tickSpacing: 10, price: 1, positions: [[0.99, 1.01, '100000']], protocolFees: [100, 50] },
    { pair: ['WBTC', 'USDC'], fee: 10_000, tickSpacing: 200, price: 60_000, positions: [[40_000, 90_000, '2']] },
  ],
})
