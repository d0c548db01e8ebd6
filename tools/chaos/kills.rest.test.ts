import { expect } from 'chai'
import { expectNoViolations } from './expect-none.ts'
import { kills } from './scenarios/kills.ts'
import { applied } from './servers/patched/applied.ts'
import { patches } from './servers/patched/patches.ts'

describe('a server that is killed again and again while bots trade', function () {
  this.timeout(400_000)

  it('gives every request its one outcome', () => expectNoViolations(kills))

  for (const name of Object.keys(patches)) {
    it(`is changed for these tests where its source has the text that "${name}" looks for`, () => {
      expect(applied([name]).size).to.be.greaterThan(0)
    })
  }
})
