import { oasisDevnet } from 'sluice/oasis/devnet'
import { markets } from './markets.ts'

export default oasisDevnet({
  name: 'oasis',
  pairs: markets['ethereum/local'] ?? [],
  books: [
    { base: 'WETH', quote: 'DAI', price: 3000, amount: '5' },
    { base: 'WETH', quote: 'USDC', price: 3000, amount: '5' },
    { base: 'WBTC', quote: 'USDC', price: 60_000, amount: '0.25' },
  ],
  least: { WETH: '0.001', WBTC: '0.0001', DAI: '1', USDC: '1' },
})
