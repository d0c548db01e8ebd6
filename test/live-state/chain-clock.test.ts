import { expect } from 'chai'
import { createChainClock } from '../../core/live-state/chain-clock.ts'

const hour = 3_600
const start = 1_800_000_000

/** A machine whose clock is off by `aheadSeconds`, and a network that makes a block every two seconds. */
function machine(aheadSeconds = 0) {
  const state = { seconds: start, aheadSeconds, steadySeconds: 500 }
  const clock = createChainClock({ nowMs: () => (state.seconds + state.aheadSeconds) * 1000, steadyMs: () => state.steadySeconds * 1000 })
  let block = { timestamp: start - 2 }
  const pass = (seconds: number) => {
    state.seconds += seconds
    state.steadySeconds += seconds
  }
  return {
    state,
    clock,
    pass,
    sleep: (seconds: number) => void (state.seconds += seconds),
    /** @param lagSeconds how far the node is behind the network */
    block(lagSeconds = 0) {
      block = { timestamp: Math.floor(state.seconds - lagSeconds) }
      clock.observe(block)
    },
    live(blocks: number, lagSeconds = 0) {
      for (let each = 0; each < blocks; each += 1) {
        pass(2)
        this.block(lagSeconds)
      }
    },
    age: () => Math.round(clock.ageSeconds(block)),
  }
}

describe('the age of a block', () => {
  it("follows this machine's clock where that is right, also for a node that has stopped or lags", () => {
    const at = machine()
    at.live(3)
    expect(at.age()).to.equal(0)
    at.pass(500)
    expect(at.age()).to.equal(500)
    const lagging = machine()
    lagging.live(100, 300)
    expect(lagging.age()).to.equal(300)
  })

  for (const hours of [26, -26]) {
    it(`does not change when the clock jumps by ${hours} hours, from the next block on`, () => {
      const at = machine()
      at.live(3)
      at.state.aheadSeconds = hours * hour
      if (hours < 0) expect(at.age()).to.equal(0)
      at.live(1)
      expect(at.age()).to.equal(0)
      at.pass(500)
      expect(at.age()).to.equal(500)
      at.block()
      at.state.aheadSeconds = 0
      at.live(1)
      expect(at.age()).to.equal(0)
    })

    it(`becomes right after five minutes where the clock has been wrong by ${hours} hours from the start`, () => {
      const at = machine(hours * hour)
      at.live(160)
      expect(at.age()).to.equal(0)
      at.pass(500)
      expect(at.age()).to.equal(500)
    })
  }

  it('stays large while a machine that slept has seen no new block', () => {
    const at = machine()
    at.live(30)
    at.sleep(8 * hour)
    expect(at.age()).to.equal(8 * hour)
    at.live(1)
    expect(at.age()).to.equal(0)
  })

  it('stays large for a node that catches up, and for one that stands still, though the clock is wrong', () => {
    const catchingUp = machine(26 * hour)
    for (let lag = 40_000; lag > 39_000; lag -= 0.1) catchingUp.live(1, lag)
    expect(catchingUp.age()).to.be.above(hour)
    const standing = machine(26 * hour)
    standing.live(1)
    standing.pass(100)
    expect(standing.age()).to.be.above(100)
  })

  it('grows for a node that begins to lag after the clock has jumped', () => {
    const at = machine()
    at.live(3)
    at.state.aheadSeconds = 10 * 60
    at.live(3)
    expect(at.age()).to.equal(0)
    at.live(1, 500)
    expect(at.age()).to.be.at.least(400)
  })

  it('is right again with the next block after one that was ahead of its time, which one node told', () => {
    for (const before of [0, 3]) {
      const at = machine()
      at.live(before)
      at.clock.observe({ timestamp: start + 10 * hour })
      at.live(1)
      expect(at.age()).to.equal(0)
      at.pass(500)
      expect(at.age()).to.equal(500)
    }
  })

  it('stays large for a node that lags as much as a clock that was set back', () => {
    const at = machine()
    at.live(3)
    at.state.aheadSeconds = -600
    at.live(3)
    at.pass(2)
    expect(Math.round(at.clock.ageSeconds({ timestamp: at.state.seconds - 600 }))).to.be.at.least(500)
  })

  it('adds the time between an older block and the newest one', () => {
    const at = machine()
    at.live(3)
    expect(Math.round(at.clock.ageSeconds({ timestamp: at.state.seconds - 10 }))).to.equal(10)
  })
})
