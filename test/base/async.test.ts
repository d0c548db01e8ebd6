import { getEventListeners } from 'node:events'
import { expect } from 'chai'
import { abortable, createNotifier, createPlaces, oneAtATime, pause, withDeadline, withTimeout } from '../../core/base/async.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('work with a deadline', () => {
  it('returns what the work returns', async () => {
    expect(await withDeadline(undefined, 1_000, async () => 'done')).to.equal('done')
  })

  it('ends with the signal and its reason, also when the signal was aborted before', async () => {
    const closing = new AbortController()
    const [reason, work] = [new Error('closing'), withDeadline(closing.signal, 60_000, untilAborted)]
    closing.abort(reason)
    expect(await reasonOf(work)).to.equal(reason)
    expect(await reasonOf(withDeadline(closing.signal, 60_000, async (signal) => signal.throwIfAborted()))).to.equal(reason)
  })

  it('ends with a TimeoutError when its time is over, as by AbortSignal.timeout', async () => {
    const closing = new AbortController()
    expect(await reasonOf(withDeadline(closing.signal, 1, untilAborted)))
      .to.be.instanceOf(DOMException)
      .with.property('name', 'TimeoutError')
  })

  it('leaves no listener in a signal that lives longer', async () => {
    const closing = new AbortController()
    for (let each = 0; each < 20; each += 1) await withDeadline(closing.signal, 60_000, async () => {})
    await reasonOf(withDeadline(closing.signal, 60_000, () => Promise.reject(new Error('failed'))))
    expect(heldBy(closing.signal)).to.deep.equal({ listeners: 0, dependants: 0 })
  })
})

describe('waiting for work', () => {
  const never = new Promise<never>(() => {})

  it('for at most a time returns what the work returns, else what onTimeout returns or throws', async () => {
    expect(await withTimeout(Promise.resolve('done'), 60_000, () => 'late')).to.equal('done')
    expect(await withTimeout(never, 1, () => 'late')).to.equal('late')
    const late = new Error('late')
    const failing = withTimeout(never, 1, () => {
      throw late
    })
    expect(await reasonOf(failing)).to.equal(late)
    expect(await reasonOf(withTimeout(Promise.reject(late), 60_000, () => {}))).to.equal(late)
  })

  it('until a signal aborts throws its reason, and the failure of the work stays handled', async () => {
    const closing = new AbortController()
    const waiting = abortable(never, closing.signal)
    closing.abort(new Error('closing'))
    expect(await reasonOf(waiting)).to.equal(closing.signal.reason)
    expect(await reasonOf(abortable(Promise.reject(new Error('failed')), closing.signal))).to.equal(closing.signal.reason)
    expect(heldBy(closing.signal).listeners).to.equal(0)
  })

  it('by a pause ends when the signal aborts, and never rejects', async () => {
    const closing = new AbortController()
    const paused = pause(60_000, closing.signal)
    closing.abort()
    await paused
    await pause(60_000, closing.signal)
    await pause(1)
  })

  it('by a notifier ends at once when the notification came before', async () => {
    const notifier = createNotifier()
    notifier.notify()
    expect([await notifier.wait(60_000), await notifier.wait(1)]).to.deep.equal([true, false])
  })
})

describe('places for work', () => {
  it('are given in the order of the calls, so many at a time, and each is passed on once', async () => {
    const takePlace = createPlaces(2)
    const begun: { number: number; passOn: () => void }[] = []
    for (const number of [1, 2, 3, 4, 5]) void takePlace().then((passOn) => begun.push({ number, passOn }))
    const numbers = async () => {
      await turn()
      return begun.map((each) => each.number)
    }
    expect(await numbers()).to.deep.equal([1, 2])
    begun[1]?.passOn()
    begun[1]?.passOn()
    expect(await numbers()).to.deep.equal([1, 2, 3])
    for (const each of begun.splice(0)) each.passOn()
    expect(await numbers()).to.deep.equal([4, 5])
    for (const each of begun.splice(0)) each.passOn()
    for (const number of [6, 7, 8]) void takePlace().then((passOn) => begun.push({ number, passOn }))
    expect(await numbers()).to.deep.equal([6, 7])
  })
})

describe('reading one at a time', () => {
  /** Each reading waits until it is ended. */
  function readings() {
    const begun: { end(): void; fail(): void }[] = []
    const read = oneAtATime(() => {
      const number = begun.length + 1
      return new Promise<number>((resolve, reject) =>
        begun.push({ end: () => resolve(number), fail: () => reject(new Error(`reading ${number} failed`)) }),
      )
    })
    return { read, begun }
  }

  it('begins at once where none is under way, and reads once more for all who ask meanwhile', async () => {
    const { read, begun } = readings()
    const first = read()
    expect(begun).to.have.length(1)
    const others = [read(), read(), read()]
    await turn()
    expect(begun).to.have.length(1)
    begun[0]?.end()
    expect(await first).to.equal(1)
    await turn()
    expect(begun).to.have.length(2)
    // This one asks while the second is under way, which began before.
    const later = read()
    begun[1]?.end()
    expect(await Promise.all(others)).to.deep.equal([2, 2, 2])
    await turn()
    begun[2]?.end()
    expect(await later).to.equal(3)
    const last = read()
    expect(begun).to.have.length(4)
    begun[3]?.end()
    expect(await last).to.equal(4)
  })

  it('reads on after a failure, which only those get who asked for that reading', async () => {
    const { read, begun } = readings()
    const [first, next] = [reasonOf(read()), read()]
    begun[0]?.fail()
    expect(await first)
      .to.be.instanceOf(Error)
      .with.property('message', 'reading 1 failed')
    await turn()
    begun[1]?.end()
    expect(await next).to.equal(2)
  })

  it('never begins a second one at the moment in which one ends', async () => {
    let [underWay, most] = [0, 0]
    const read = oneAtATime(async () => {
      underWay += 1
      most = Math.max(most, underWay)
      await turn()
      underWay -= 1
    })
    const ask = async (): Promise<void> => {
      for (let each = 0; each < 5; each += 1) await read()
    }
    await Promise.all([ask(), ask(), read().then(ask)])
    expect(most).to.equal(1)
  })
})

/** What Node keeps in a signal for those that wait for it: listeners, and the signals that AbortSignal.any made of it. */
function heldBy(signal: AbortSignal): { listeners: number; dependants: number } {
  const dependants = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals')
  const made: unknown = dependants && Reflect.get(signal, dependants)
  return { listeners: getEventListeners(signal, 'abort').length, dependants: Number(Object(made).size ?? 0) }
}
