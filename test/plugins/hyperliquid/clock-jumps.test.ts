import { expect } from 'chai'
import { createClock, createRateLimiter, type QueryInfo } from '../../../plugins/hyperliquid/api.ts'
import { createClaim, noncesFrom } from '../../../plugins/hyperliquid/nonces.ts'

const hourMs = 3_600_000
const at = { signal: new AbortController().signal }

describe("Hyperliquid, when this machine's clock jumps", () => {
  const { now } = Date
  let exchangeAheadMs = 0
  let queries = 0
  // The test's exchange has a clock that is right.
  const queryInfo = (async () => (
    (queries += 1),
    { time: Math.round(performance.timeOrigin + performance.now()) + exchangeAheadMs }
  )) as QueryInfo
  const jump = (hours: number) => (Date.now = () => now() + hours * hourMs)
  beforeEach(() => {
    exchangeAheadMs = 0
    queries = 0
  })
  afterEach(() => void (Date.now = now))
  const isNear = (value: number, expected: number) => expect(Math.abs(value - expected)).to.be.below(60_000)

  for (const hours of [26, -26]) {
    it(`has the exchange's time all the same after ${hours} hours, so that orders expire when they should`, async () => {
      exchangeAheadMs = 7 * hourMs
      const clock = createClock(queryInfo)
      await clock.sync(at)
      const before = clock.nowMs()
      jump(hours)
      isNear(clock.nowMs(), before)
      clock.observe(before)
      isNear(clock.nowMs(), before)
    })

    it(`makes nonces by the exchange's time after ${hours} hours`, async () => {
      const [clock, claim] = [createClock(queryInfo), createClaim()]
      const aheadMs = await clock.aheadMs(at)
      const [first] = claim({ aheadMs }, [], 1)
      jump(hours)
      const [second] = claim({ aheadMs: await clock.aheadMs(at) }, [], 1)
      isNear(second?.nonce ?? 0, first?.nonce ?? 0)
      expect(noncesFrom({ aheadMs }, (second?.nonce ?? 0) + 1, 1)).to.have.length(1)
    })

    it(`asks for the exchange's time again after ${hours} hours, since this machine may have slept`, async () => {
      const clock = createClock(queryInfo)
      await clock.aheadMs(at)
      await clock.aheadMs(at)
      expect(queries).to.equal(1)
      jump(hours)
      await clock.aheadMs(at)
      await clock.aheadMs(at)
      expect(queries).to.equal(2)
    })

    it(`has the same rate limit after ${hours} hours`, () => {
      const limiter = createRateLimiter(1200)
      limiter.markExhausted()
      jump(hours)
      expect(() => limiter.take(20, 'query')).to.throw("Hyperliquid's rate limit")
    })
  }
})
