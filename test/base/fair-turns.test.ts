import { expect } from 'chai'
import { linkAbort, withDeadline } from '../../core/base/async.ts'
import { createFairSlots, createFairTurns, inTurns, payerOf, shareOut, type Payer } from '../../core/base/fair-turns.ts'
import { SluiceError } from '../../core/base/errors.ts'

const turns = createFairTurns()
const signalOf = (payer?: Payer): AbortSignal => {
  const { signal } = new AbortController()
  turns.chargeTo(signal, payer)
  return signal
}

describe('places that several share', () => {
  const order: string[] = []
  const open: (() => void)[] = []
  const work = (name: string) => () => {
    order.push(name)
    return new Promise<string>((resolve) => open.push(() => resolve(name)))
  }
  const endFirst = async () => {
    open.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  beforeEach(() => {
    order.length = 0
    open.length = 0
  })
  const shared = () => createFairSlots({ slots: 3, slotsEach: 2, maxWaiting: 10, what: 'the nodes' })

  it('leave room beside a greedy one, and those who wait take turns', async () => {
    const slots = shared()
    const [greedy, modest] = [{}, {}]
    const all = [1, 2, 3, 4, 5].map((each) => slots.run(signalOf(greedy), work(`greedy ${each}`)))
    expect(order).to.deep.equal(['greedy 1', 'greedy 2'])
    all.push(slots.run(signalOf(modest), work('modest 1')), slots.run(signalOf(modest), work('modest 2')))
    expect(order.slice(2)).to.deep.equal(['modest 1'])
    await endFirst()
    await endFirst()
    expect(order.slice(3).toSorted()).to.deep.equal(['greedy 3', 'modest 2'])
    while (open.length > 0) await endFirst()
    expect(await Promise.all(all)).to.have.length(7)
    expect(order.slice(-2)).to.deep.equal(['greedy 4', 'greedy 5'])
  })

  it('do not limit what the server asks for itself', () => {
    const slots = shared()
    for (let each = 0; each < 9; each += 1) void slots.run(signalOf(), work(`own ${each}`))
    expect(order).to.have.length(9)
  })

  it('become free again after a failure, and of a caller that is gone nothing is done', async () => {
    const slots = shared()
    const payer = {}
    const failed = [1, 2].map(() => slots.run(signalOf(payer), () => Promise.reject(new Error('no'))).catch(String))
    expect(await Promise.all(failed)).to.deep.equal(['Error: no', 'Error: no'])
    for (const each of [1, 2]) void slots.run(signalOf(payer), work(`${each}`))
    const leaving = new AbortController()
    turns.chargeTo(leaving.signal, payer)
    const left = slots.run(leaving.signal, work('left')).catch(String)
    leaving.abort('gone')
    expect(await left).to.equal('gone')
    await endFirst()
    expect(order).to.deep.equal(['1', '2'])
  })

  it('have a bound of how much of one may wait', () => {
    const slots = shared()
    const payer = {}
    for (let each = 0; each < 12; each += 1) void slots.run(signalOf(payer), work(`${each}`))
    let refused: unknown
    try {
      void slots.run(signalOf(payer), work('more'))
    } catch (error) {
      refused = error
    }
    expect(refused).to.be.instanceOf(SluiceError).and.include({ name: 'RATE_LIMIT' })
    expect(() => void slots.run(signalOf({}), work('of another'))).not.to.throw()
  })
})

describe('a list that is too long for one load', () => {
  it('is shared out among those who want its items, in its order', () => {
    const [greedy, modest] = [{}, {}]
    const items = Array.from({ length: 12 }, (_, index) => ({
      index,
      payer: index === 9 || index === 11 ? modest : index === 10 ? undefined : greedy,
    }))
    const taken = (most: number) => shareOut(items, ({ payer }) => payer, most).map(({ index }) => index)
    expect(taken(5)).to.deep.equal([0, 9, 10, 1, 11])
    expect(taken(7)).to.deep.equal([0, 9, 10, 1, 11, 2, 3])
    expect(taken(12)).to.deep.equal(items.map(({ index }) => index))
  })
})

describe('who work is done for', () => {
  it('is known of every signal that is linked to that of a request', async () => {
    const payer = {}
    const inner = new AbortController()
    linkAbort(signalOf(payer), inner)
    expect(payerOf(inner.signal)).to.equal(payer)
    await withDeadline(inner.signal, 1_000, async (signal) => expect(payerOf(signal)).to.equal(payer))
    expect(payerOf(new AbortController().signal)).to.equal(undefined)
  })
})

describe('long lists of one caller', () => {
  it('do not keep the list of another one waiting until all of them are done', async () => {
    const busy = () => {
      const until = performance.now() + 0.5
      while (performance.now() < until);
    }
    const ended: string[] = []
    const [greedy, modest] = [{}, {}]
    const items = Array.from({ length: 8 })
    const many = Array.from({ length: 20 }, async (_, each) => {
      await inTurns(items, busy, { signal: signalOf(greedy) })
      ended.push(`greedy ${each}`)
    })
    const one = inTurns(items, busy, { signal: signalOf(modest) }).then(() => ended.push('modest'))
    await Promise.all([...many, one])
    expect(ended.indexOf('modest')).to.be.lessThan(10)
  })

  it('wait in lines of their own server: another one in the same process has its own', async () => {
    const ended: string[] = []
    const [payer, other] = [{}, createFairTurns()]
    const here = [1, 2, 3].map(async (each) => {
      await turns.next(payer)
      ended.push(`here ${each}`)
    })
    const there = other.next(payer).then(() => ended.push('there'))
    await Promise.all([...here, there])
    expect(ended).to.deep.equal(['here 1', 'there', 'here 2', 'here 3'])
  })
})
