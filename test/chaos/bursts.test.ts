import { expectNoViolations } from './expect-none.ts'
import { keys } from './scenarios/keys.ts'
import { rounds } from './scenarios/rounds.ts'

describe('many requests at once', function () {
  this.timeout(120_000)

  it('of one wallet each have one effect', () => expectNoViolations(rounds))

  it('with one key have one effect and one answer', () => expectNoViolations(keys))
})
