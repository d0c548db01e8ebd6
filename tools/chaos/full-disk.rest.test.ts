import { expectNoViolations } from './scenarios/scenario.ts'
import { fullDisk } from './scenarios/full-disk.ts'
import { createSmallDisk, NoSmallDisk } from './servers/small-disk.ts'

describe('a disk that becomes full again and again while bots trade', function () {
  this.timeout(300_000)
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
