import { isPostgresInstalled } from '../../test/store/postgres.ts'
import { expectNoViolations } from './scenarios/scenario.ts'
import { cluster } from './scenarios/cluster.ts'

describe('three servers on one PostgreSQL', function () {
  this.timeout(400_000)
  before(function () {
    if (!isPostgresInstalled) this.skip()
  })

  it('that are killed, stand still and lose their database give every request its one outcome', () => expectNoViolations(cluster))
})
