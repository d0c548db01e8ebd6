import { isPostgresInstalled } from '../../test/store/postgres.ts'
import { expectNoViolations } from './expect-none.ts'
import { clocks } from './scenarios/clocks.ts'
import { missingFaketime } from './servers/wrong-clock.ts'

describe('two servers whose clocks are wrong and jump', function () {
  this.timeout(400_000)
  before(function () {
    if (missingFaketime !== undefined) {
      // In CI everything is there.
      if (process.env['CI'] !== undefined) throw new Error(missingFaketime)
      console.warn(`Not run: ${missingFaketime}`)
      this.skip()
    }
    if (!isPostgresInstalled) this.skip()
  })

  it('give every request its one outcome', () => expectNoViolations(clocks))
})
