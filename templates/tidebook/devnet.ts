import { oasisDevnet } from 'sluice/oasis/devnet'

// What is deployed on the local chain: the contract with its minimum amounts, and the offers of others.
export default oasisDevnet({
  name: 'tidebook',
  pairs: [['0x1b9f902252Ad25601aCB5E70ac1E2035B285D348', '0x2459b5a628dBF27fb068B28084288fc5b12D219A']],
  books: [{ base: 'WETH', quote: 'DAI', price: 3000, amount: '5' }],
  least: { WETH: '0.001', DAI: '1' },
})
