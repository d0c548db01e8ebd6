import { expectNoViolations } from './scenarios/scenario.ts'
import { longJournal } from './scenarios/long-journal.ts'

describe('a journal of many earlier transactions', function () {
  this.timeout(400_000)

  it('is read from end to end while bots trade and the server is killed, and costs no request its one outcome', () =>
    expectNoViolations(longJournal))
})
