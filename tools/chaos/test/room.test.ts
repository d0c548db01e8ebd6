import { expect } from 'chai'
import { createRoom } from '../hummingbot/room.ts'

const quick = 500
const slow = 20_000

describe('the room for orders of Hummingbot’s bots', () => {
  it('grows while answers come soon, and shrinks while they come late', () => {
    const room = createRoom(4, 16)
    for (let index = 0; index < 100; index += 1) room.answered(quick)
    expect(room.size).to.equal(16)
    for (let index = 0; index < 24; index += 1) room.answered(slow)
    expect(room.size).to.equal(10)
    for (let index = 0; index < 100; index += 1) room.answered(slow)
    expect(room.size).to.equal(4)
  })

  it('lets no more in than it has places, and the next when one leaves or a place is added', async () => {
    const room = createRoom(2, 3)
    const ends: (() => void)[] = []
    const enter = () => room.hold(() => new Promise<void>((resolve) => ends.push(resolve)))
    const all = Array.from({ length: 5 }, enter)
    await turn()
    expect(ends).to.have.length(2)
    ends[0]?.()
    await all[0]
    await turn()
    expect(ends).to.have.length(3)
    room.answered(quick)
    room.answered(quick)
    await turn()
    expect(ends).to.have.length(4)
    for (let index = 1; index < 5; index += 1) {
      ends[index]?.()
      await turn()
    }
    await Promise.all(all)
  })

  it('gives the place of work that fails to the next', async () => {
    const room = createRoom(1, 1)
    const failed = await room.hold(() => Promise.reject(new Error('no'))).catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(Error)
    expect(await room.hold(async () => 'in')).to.equal('in')
  })
})

const turn = () => new Promise((resolve) => setImmediate(resolve))
