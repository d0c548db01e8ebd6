import { fullDisk } from './scenarios/full-disk.ts'
import { longJournal } from './scenarios/long-journal.ts'
import { expectNoViolations } from './scenarios/scenario.ts'
import { createSmallDisk, NoSmallDisk } from './servers/small-disk.ts'

describe('a disk that becomes full again and again while bots trade', function () {
  this.timeout(900_000)
  before(async function () {
    try {
      await (await createSmallDisk(1_000_000)).remove()
    } catch (error) {
      if (!(error instanceof NoSmallDisk)) throw error
      console.warn(`Not run: ${error.message}`)
      this.skip()
    }
  })

  it('costs no request its one outcome, and the server needs no restart when there is room', () => expectNoViolations(fullDisk))
})

describe('a journal of many earlier transactions', function () {
  this.timeout(900_000)

  it('is read from end to end while bots trade and the server is killed, and costs no request its one outcome', () =>
    expectNoViolations(longJournal))
})
