import { expect } from 'chai'
import { createRateLimit } from '../../core/tls/tls-server.ts'

describe('the rate limit of log lines', () => {
  it('allows a number of lines in each window, then reports how many it suppressed', () => {
    const allow = createRateLimit(2, 1_000)

    const logged = [0, 1, 2, 999].map((now) => allow(now).log)

    expect(logged).to.deep.equal([true, true, false, false])
    expect(allow(1_000)).to.deep.equal({ log: true, suppressed: 2 })
    expect(allow(1_001)).to.deep.equal({ log: true, suppressed: 0 })
  })
})
