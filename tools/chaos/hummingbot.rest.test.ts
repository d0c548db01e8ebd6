import { hummingbot } from './scenarios/hummingbot.ts'
import { expectNoViolations } from './scenarios/scenario.ts'

/** `npm run test:hummingbot` plays 10,000 orders. */
describe('bots of Hummingbot, which send no keys, over bad lines to a server that is killed', function () {
  this.timeout(900_000)

  it('have each order on the chain once, or never and are told so', () => expectNoViolations(hummingbot))
})
