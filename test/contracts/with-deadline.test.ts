import { getEventListeners } from 'node:events'
import { expect } from 'chai'
import { withDeadline } from '../../core/async.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('work with a deadline', () => {
  it('gives what the work gives', async () => {
    expect(await withDeadline(undefined, 1_000, async () => 'done')).to.equal('done')
  })

  it('is ended by the signal, with its reason, also by one that was aborted before', async () => {
    const closing = new AbortController()
    const [reason, work] = [new Error('closing'), withDeadline(closing.signal, 60_000, untilAborted)]
    closing.abort(reason)
    expect(await reasonOf(work)).to.equal(reason)
    expect(await reasonOf(withDeadline(closing.signal, 60_000, async (signal) => signal.throwIfAborted()))).to.equal(reason)
  })

  it('is ended when its time is over, as by AbortSignal.timeout', async () => {
    const closing = new AbortController()
    expect(await reasonOf(withDeadline(closing.signal, 1, untilAborted)))
      .to.be.instanceOf(DOMException)
      .with.property('name', 'TimeoutError')
  })

  it('leaves nothing behind in a signal that lives longer', async () => {
    const closing = new AbortController()
    for (let each = 0; each < 20; each += 1) await withDeadline(closing.signal, 60_000, async () => {})
    await reasonOf(withDeadline(closing.signal, 60_000, () => Promise.reject(new Error('failed'))))
    expect(heldBy(closing.signal)).to.deep.equal({ listeners: 0, dependants: 0 })
  })
})

/** What Node keeps in a signal for those that wait for it: listeners, and what AbortSignal.any made of it. */
function heldBy(signal: AbortSignal): { listeners: number; dependants: number } {
  const dependants = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals')
  const made: unknown = dependants && Reflect.get(signal, dependants)
  return { listeners: getEventListeners(signal, 'abort').length, dependants: Number(Object(made).size ?? 0) }
}
