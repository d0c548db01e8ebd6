import { expect } from 'chai'
import { createRateLimit } from '../../core/tls/tls-server.ts'

describe('burst limit', () => {
  it('lets a burst through up to its size, then tells how many it kept quiet once the window is over', () => {
    const allow = createRateLimit(2, 1_000)

    const logged = [0, 1, 2, 999].map((now) => allow(now).log)

    expect(logged).to.deep.equal([true, true, false, false])
    expect(allow(1_000)).to.deep.equal({ log: true, keptQuiet: 2 })
    expect(allow(1_001)).to.deep.equal({ log: true, keptQuiet: 0 })
  })
})
