import { algebraDevnet } from 'sluice/algebra/devnet'

/** Some in a wide range, more about the price, and some to one side of it. */
const spread = (price: number, amount: number) =>
  [
    [price / 10, price * 10, `${amount}`],
    [price / 1.2, price * 1.25, `${amount / 2}`],
    [price / 1.5, price / 1.1, `${amount / 10}`],
  ] as const

export default algebraDevnet({
  name: 'quickswap-v4',
  pools: [
    { pair: ['WETH', 'USDC'], plugin: true, price: 3002, positions: spread(3000, 800) },
    { pair: ['WETH', 'DAI'], price: 2999, positions: spread(3000, 500) },
    { pair: ['DAI', 'USDC'], plugin: true, price: 1, positions: [[0.98, 1.02, '500000']] },
    { pair: ['USDC', 'USDT'], price: 1, positions: [[0.98, 1.02, '500000']] },
    { pair: ['WETH', 'TAX'], price: 3000, positions: [[300, 30_000, '20']] },
    { pair: ['WBTC', 'WETH'], price: 20.01, positions: spread(20, 20) },
  ],
})
