import { expectNoViolations } from './scenarios/scenario.ts'
import { solana } from './scenarios/solana.ts'

describe('a server on Solana that is killed, on a bad node of a chain in trouble, while bots want accounts for tokens', function () {
  this.timeout(900_000)

  it('gives every request its one outcome, and makes every account once', () => expectNoViolations(solana))
})
