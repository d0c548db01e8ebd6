import { perpDevnet } from 'sluice/perp/devnet'

// The exchange that the tests trade on, and what its market maker offers.
export default perpDevnet({
  name: 'reefperp',
  markets: [
    { base: 'ETH', price: 3000, maxTickCrossed: 1000, depth: 10_000 },
    { base: 'BTC', price: 60_000, maxTickCrossed: 250, depth: 200 },
  ],
})
