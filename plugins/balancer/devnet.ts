import { weightedDevnet } from 'sluice/weighted/devnet'

export default weightedDevnet({
  name: 'balancer',
  pools: [
    {
      kind: 'WeightedPool',
      swapFee: '0.002',
      tokens: [
        ['WETH', '0.4', '4000'],
        ['USDC', '0.35', '10500000'],
        ['WBTC', '0.25', '125'],
      ],
    },
    {
      kind: 'WeightedPool2Tokens',
      swapFee: '0.01',
      tokens: [
        ['WETH', '0.8', '4000'],
        ['DAI', '0.2', '3000000'],
      ],
    },
    {
      kind: 'WeightedPoolV3',
      swapFee: '0.003',
      tokens: [
        ['USDC', '0.5', '5000000'],
        ['DAI', '0.5', '5000000'],
      ],
    },
    {
      kind: 'WeightedPoolV3',
      swapFee: '0.0005',
      tokens: [
        ['WETH', '0.8', '8000'],
        ['USDT', '0.2', '6000000'],
      ],
    },
  ],
})
