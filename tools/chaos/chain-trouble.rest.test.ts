import { chainTrouble, stranger } from './scenarios/chain-trouble.ts'
import { nodeFaults } from './scenarios/node-faults.ts'
import { expectNoViolations } from './scenarios/scenario.ts'

describe('trouble on the chain', function () {
  this.timeout(900_000)

  it('costs no request its one outcome: reorganisations, fees, forgetful mempools, restarts', () => expectNoViolations(chainTrouble))

  it('of a wallet that another program spends from is over within a few blocks', () => expectNoViolations(stranger))
})

describe('a node that delays, cuts, refuses, babbles, hangs, lags, lies and repeats itself', function () {
  this.timeout(900_000)

  it('costs no request its one outcome', () => expectNoViolations(nodeFaults))
})
