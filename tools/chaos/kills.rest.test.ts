import { expectNoViolations } from './scenarios/scenario.ts'
import { kills } from './scenarios/kills.ts'

describe('a server that is killed again and again while bots trade', function () {
  this.timeout(400_000)

  it('gives every request its one outcome', () => expectNoViolations(kills))
})
