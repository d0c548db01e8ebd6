import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createReadingSlots } from '../../core/handlers/portfolio/reading-slots.ts'

const never = new AbortController().signal

/** Readings that end when they are told to. */
function readings(most: number, mostOfOne: number) {
  const slots = createReadingSlots(most, mostOfOne)
  const begun: { readonly name: string; end(): void }[] = []
  const begin = (name: string, signal = never) =>
    slots.of(name.slice(0, 1), signal, () => new Promise<void>((resolve) => void begun.push({ name, end: resolve })))
  return { begin, begun, names: () => begun.map(({ name }) => name).join(' ') }
}

describe('wallets that are read at once', () => {
  it('are so many of one client, and so many of all, and others wait for their turn', async () => {
    const { begin, begun, names } = readings(3, 2)
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => begin(name))
    expect(names()).to.equal('a1 a2 b1')
    begun[2]?.end()
    await nextTurn()
    expect(names(), 'a has its two places, and b had its turn').to.equal('a1 a2 b1 c1')
    begun[0]?.end()
    await nextTurn()
    expect(names(), 'a has one still').to.equal('a1 a2 b1 c1 b2')
    for (let index = 0; index < 6; index += 1) {
      begun[index]?.end()
      await nextTurn()
    }
    await Promise.all(all)
    expect(names()).to.equal('a1 a2 b1 c1 b2 a3')
  })

  it('begin soon for a client that comes after others with many, and then by turns', async () => {
    const { begin, begun, names } = readings(3, 1)
    const all = ['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3', 'd1', 'd2'].map((name) => begin(name))
    for (let index = 0; index < all.length; index += 1) {
      begun[index]?.end()
      await nextTurn()
    }
    await Promise.all(all)
    expect(names()).to.equal('a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3')
  })

  it('are shared evenly where one client has had all the places that it may have', async () => {
    const { begin, begun, names } = readings(4, 3)
    const all = ['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'b3'].map((name) => begin(name))
    for (const index of [0, 1]) {
      begun[index]?.end()
      await nextTurn()
    }
    expect(names()).to.equal('a1 a2 a3 b1 b2 a4')
    for (let index = 2; index < all.length; index += 1) {
      begun[index]?.end()
      await nextTurn()
    }
    await Promise.all(all)
  })

  it('give their place to the next where they fail, and whoever gives up waits no more', async () => {
    const slots = createReadingSlots(1, 1)
    const failing = slots.of('a', never, async () => {
      await nextTurn()
      throw new Error('no node')
    })
    const stop = new AbortController()
    const stopped = slots.of('b', stop.signal, async () => 'b')
    const last = slots.of('c', never, async () => 'c')
    stop.abort(new Error('too late'))
    const reasonOf = (work: Promise<unknown>) =>
      work.then(
        () => 'none',
        (error: unknown) => (error instanceof Error ? error.message : ''),
      )
    expect(await reasonOf(stopped)).to.equal('too late')
    expect(await reasonOf(failing)).to.equal('no node')
    expect(await last).to.equal('c')
    expect(await slots.of('b', never, async () => 'again')).to.equal('again')
  })
})
