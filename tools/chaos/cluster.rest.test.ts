import { isPostgresInstalled } from '../../test/store/postgres.ts'
import { clocks, missingFaketime } from './scenarios/clocks.ts'
import { cluster } from './scenarios/cluster.ts'
import { expectNoViolations } from './scenarios/scenario.ts'

describe('three servers on one PostgreSQL', function () {
  this.timeout(900_000)
  before(function () {
    if (!isPostgresInstalled) this.skip()
  })

  it('that are killed, stand still and lose their database give every request its one outcome', () => expectNoViolations(cluster))
})

describe('two servers whose clocks are wrong and jump', function () {
  this.timeout(900_000)
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
