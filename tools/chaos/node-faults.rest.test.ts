import { expectNoViolations } from './scenarios/scenario.ts'
import { nodeFaults } from './scenarios/node-faults.ts'

describe('a node that delays, cuts, refuses, babbles, hangs, lags, lies and repeats itself', function () {
  this.timeout(300_000)

  it('costs no request its one outcome', () => expectNoViolations(nodeFaults))
})
