import { stableDevnet } from 'sluice/stable/devnet'

// Out of balance, so that no two coins are worth the same.
export default stableDevnet({
  name: 'curve',
  amounts: ['2400000', '1700000', '2050000', '1850000'],
  amplification: 256n,
  fee: 4_000_000n,
})
