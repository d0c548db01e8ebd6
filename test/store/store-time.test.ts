import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import { createStoreTime } from '../../core/store/store-time.ts'
import { places } from './stores.ts'

const minuteMs = 60_000

describe("the store's time", () => {
  const { place } = places('embedded')
  let store: Store
  beforeEach(async () => {
    store = await place().open()
  })

  /** A server with a steady clock that the test moves. */
  function server(atMs = 0) {
    const clock = { atMs }
    return { clock, time: createStoreTime(store, () => clock.atMs) }
  }
  const elapsed = async () => (await store.read((db) => db.selectFrom('store_time').select('elapsed').executeTakeFirstOrThrow())).elapsed

  it('counts what passes while a server runs, and goes on after a restart', async () => {
    const first = server(5_000_000)
    await first.time.count()
    expect(await elapsed()).to.equal(0)
    first.clock.atMs += minuteMs
    await first.time.count()
    first.clock.atMs += minuteMs
    await first.time.count()
    expect(await elapsed()).to.equal(2 * minuteMs)
    // Its steady clock begins anew.
    const second = server(0)
    await second.time.count()
    second.clock.atMs += minuteMs
    await second.time.count()
    expect(await elapsed()).to.equal(3 * minuteMs)
  })

  it('counts a moment once, however many servers run', async () => {
    const servers = [server(0), server(7_000_000), server(90 * minuteMs)]
    for (const { time } of servers) await time.count()
    for (let minute = 0; minute < 10; minute += 1) {
      for (const { clock } of servers) clock.atMs += minuteMs
      for (const { time } of servers) await time.count()
    }
    expect(await elapsed()).to.be.within(5 * minuteMs, 10 * minuteMs)
  })

  it('goes on with the servers that are left', async () => {
    const [first, second] = [server(), server()]
    await first.time.count()
    await second.time.count()
    for (let minute = 0; minute < 3; minute += 1) {
      second.clock.atMs += minuteMs
      await second.time.count()
    }
    expect(await elapsed()).to.equal(3 * minuteMs)
  })

  it('moves by two minutes at most in one count, and never back, whatever a clock shows', async () => {
    const { clock, time } = server(100 * minuteMs)
    await time.count()
    clock.atMs += 26 * 60 * minuteMs
    await time.count()
    expect(await elapsed()).to.equal(2 * minuteMs)
    clock.atMs -= 26 * 60 * minuteMs
    await time.count()
    expect(await elapsed()).to.equal(2 * minuteMs)
  })
})
