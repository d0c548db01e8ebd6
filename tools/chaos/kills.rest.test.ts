import { kills } from './scenarios/kills.ts'
import { expectNoViolations } from './scenarios/scenario.ts'
import { stoppedSigner } from './scenarios/stopped-signer.ts'

describe('a server that is killed again and again while bots trade', function () {
  this.timeout(900_000)

  it('gives every request its one outcome', () => expectNoViolations(kills))
})

describe('a signer that is stopped again and again while bots trade', function () {
  this.timeout(900_000)

  it('costs no request its one outcome, and no wallet a second signature for one', () => expectNoViolations(stoppedSigner))
})
