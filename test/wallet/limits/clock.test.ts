import { expect } from 'chai'
import { createSignerClock, type NotedTime } from '../../../core/wallet/limits/clock.ts'

/** A machine whose clocks the test sets. */
const machine = (boot: string | undefined = 'first') => {
  const at = { wall: 1_000_000, steady: 500 }
  return { at, sources: { wallMs: () => at.wall, steadyMs: () => at.steady, boot } }
}

describe("the signer's clock", () => {
  it('goes on with the steady clock, whatever the system’s clock is set to', () => {
    const { at, sources } = machine()
    const clock = createSignerClock(undefined, sources)
    at.steady += 60_000
    for (const wall of [0, 1_000_000, 9_000_000_000]) {
      at.wall = wall
      expect(clock.now().ms).to.equal(1_060_000)
    }
  })

  it('goes on so over a restart of the signer, while the machine runs', () => {
    const { at, sources } = machine()
    const last = createSignerClock(undefined, sources).now()
    at.steady += 5_000
    at.wall += 86_400_000
    expect(createSignerClock(last, sources).now().ms).to.equal(1_005_000)
  })

  it('takes the later of the last time and the system’s clock after a start of the machine', () => {
    const { at, sources } = machine('second')
    const last: NotedTime = { ms: 2_000_000, steadyMs: 900_000, boot: 'first' }
    expect(createSignerClock(last, sources).now().ms).to.equal(2_000_000)
    at.wall = 3_000_000
    expect(createSignerClock(last, sources).now().ms).to.equal(3_000_000)
  })

  it('takes the system’s clock at each start where the system does not name its starts, and never goes back', () => {
    const { at, sources } = machine()
    const nameless = { ...sources, boot: undefined }
    const last = createSignerClock(undefined, nameless).now()
    at.wall += 86_400_000
    expect(createSignerClock(last, nameless).now().ms).to.equal(87_400_000)
    at.wall = 0
    expect(createSignerClock(last, nameless).now().ms).to.equal(1_000_000)
  })
})
