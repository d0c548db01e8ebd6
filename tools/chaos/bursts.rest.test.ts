import { expectNoViolations, type Report } from './scenarios/scenario.ts'
import { keys, rounds } from './scenarios/bursts.ts'

describe('many requests at once', function () {
  this.timeout(900_000)
  let ofOneWallet: Promise<Report>
  let withOneKey: Promise<Report>
  before(() => {
    // Each waits for its blocks most of the time.
    ofOneWallet = expectNoViolations(rounds)
    withOneKey = expectNoViolations(keys)
    // Told by the test whose run it is.
    for (const run of [ofOneWallet, withOneKey]) run.catch(() => {})
  })
  after(() => Promise.allSettled([ofOneWallet, withOneKey]))

  it('of one wallet each have one effect', () => ofOneWallet)

  it('with one key have one effect and one answer', () => withOneKey)
})
