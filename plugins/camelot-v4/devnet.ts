import { algebraDevnet } from 'sluice/algebra/devnet'

export default algebraDevnet({
  name: 'camelot-v4',
  pools: [
    {
      pair: ['WETH', 'USDC'],
      plugin: true,
      price: 3001,
      positions: [
        [300, 30_000, '600'],
        [2700, 3300, '300'],
      ],
    },
    { pair: ['WETH', 'DAI'], plugin: true, price: 3000, positions: [[300, 30_000, '300']] },
    { pair: ['USDC', 'USDT'], price: 1, positions: [[0.98, 1.02, '300000']] },
    { pair: ['WETH', 'TAX'], price: 3000, positions: [[300, 30_000, '20']] },
    { pair: ['WBTC', 'WETH'], price: 20, positions: [[2, 200, '15']] },
  ],
})
