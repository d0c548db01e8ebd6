import { algebraDevnet } from 'sluice/algebra/devnet'

/** Some in a wide range, more about the price, and some to one side of it. */
const spread = (price: number, amount: number) =>
  [
    [price / 10, price * 10, `${amount}`],
    [price / 1.2, price * 1.25, `${amount / 2}`],
    [price / 1.5, price / 1.1, `${amount / 10}`],
  ] as const

export default algebraDevnet({
  name: 'quickswap-v3',
  kind: '1.0',
  pools: [
    { pair: ['WETH', 'USDC'], price: 3000, positions: spread(3000, 700) },
    { pair: ['WETH', 'DAI'], price: 3000, positions: spread(3000, 400) },
    { pair: ['DAI', 'USDC'], price: 1, positions: [[0.98, 1.02, '400000']] },
    { pair: ['USDC', 'USDT'], price: 1, positions: [[0.98, 1.02, '400000']] },
    { pair: ['WETH', 'TAX'], price: 3000, positions: [[300, 30_000, '20']] },
    { pair: ['WBTC', 'WETH'], price: 20, positions: spread(20, 15) },
  ],
})
