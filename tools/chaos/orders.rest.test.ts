import { orders, hyperliquid } from './scenarios/orders.ts'
import { expectNoViolations } from './scenarios/scenario.ts'

describe('orders on an order book', function () {
  this.timeout(900_000)

  it('each have their one outcome, and are told as what they are, while the server is killed and the node fails', () =>
    expectNoViolations(orders))
})

describe('orders on Hyperliquid', function () {
  this.timeout(900_000)

  it('each have their one outcome, and are told as what they are, while the server is killed and the exchange fails', () =>
    expectNoViolations(hyperliquid))
})
