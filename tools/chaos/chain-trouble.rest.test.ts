import { expectNoViolations } from './expect-none.ts'
import { chainTrouble } from './scenarios/chain-trouble.ts'
import { stranger } from './scenarios/stranger.ts'

describe('trouble on the chain', function () {
  this.timeout(300_000)

  it('costs no request its one outcome: reorganisations, fees, forgetful mempools, restarts', () => expectNoViolations(chainTrouble))

  it('of a wallet that another program spends from is over within a few blocks', () => expectNoViolations(stranger))
})
