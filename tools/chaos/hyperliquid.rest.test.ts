import { expectNoViolations } from './scenarios/scenario.ts'
import { hyperliquid } from './scenarios/hyperliquid.ts'

describe('orders on Hyperliquid', function () {
  this.timeout(300_000)

  it('each have their one outcome, and are told as what they are, while the server is killed and the exchange fails', () =>
    expectNoViolations(hyperliquid))
})
