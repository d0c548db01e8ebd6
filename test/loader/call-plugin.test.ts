import { expect } from 'chai'
import { SluiceError } from '../../core/contracts/index.ts'
import { callPlugin, callPluginSync } from '../../core/loader/boundary.ts'
import { keptLog } from './fixtures.ts'

function callee() {
  const { log, lines } = keptLog()
  return { swap: { plugin: 'swap', log }, lines }
}
const never = new AbortController().signal
function withReject() {
  let reject!: (error: Error) => void
  const promise = new Promise((_, rejectIt) => {
    reject = rejectIt
  })
  return { promise, reject }
}
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('calling a plugin', () => {
  it('gives what the verb gives', async () => {
    const { swap, lines } = callee()

    expect(await callPlugin(swap, 'AMM.quote', async () => 1, never)).to.equal(1)
    expect(await callPlugin(swap, 'AMM.fill', () => undefined, never)).to.equal(undefined)
    expect(callPluginSync(swap, 'AMM.swap', () => 2)).to.equal(2)
    expect(lines).to.deep.equal([])
  })

  it("passes the plugin's errors for the caller on as they are", async () => {
    const { swap } = callee()
    const error = new SluiceError('PRICE_FAILED', 'No pool.')

    expect(await caught(callPlugin(swap, 'AMM.quote', () => Promise.reject(error), never))).to.equal(error)
    expect(() =>
      callPluginSync(swap, 'AMM.swap', () => {
        throw error
      }),
    ).to.throw(error)
  })

  for (const [how, call] of Object.entries({
    throws: () => {
      throw new TypeError('secret internals')
    },
    rejects: () => Promise.reject(new TypeError('secret internals')),
    'rejects with nothing': () => Promise.reject(),
  })) {
    it(`makes UNKNOWN_ERROR of it when a verb ${how}, with the plugin and the reason in the log only`, async () => {
      const { swap, lines } = callee()

      const error = await caught(callPlugin(swap, 'AMM.quote', call, never))

      expect(error).to.be.instanceOf(SluiceError).and.to.include({ name: 'UNKNOWN_ERROR' })
      expect(String(error)).not.to.contain('secret internals')
      expect(lines[0]?.fields).to.include({ plugin: 'swap', verb: 'AMM.quote' })
    })
  }

  it('leaves a verb that never settles behind at the deadline, and answers TIMEOUT', async () => {
    const { swap, lines } = callee()
    const deadline = new AbortController()

    const answer = caught(callPlugin(swap, 'AMM.quote', () => new Promise(() => {}), deadline.signal))
    deadline.abort()

    expect(await answer)
      .to.be.instanceOf(SluiceError)
      .and.to.include({ name: 'TIMEOUT' })
    expect(lines[0]?.fields).to.deep.equal({ plugin: 'swap', verb: 'AMM.quote' })
  })

  it('only logs what a verb does after it was left behind', async () => {
    const { swap, lines } = callee()
    const deadline = new AbortController()
    const { promise, reject: fail } = withReject()

    const answer = caught(callPlugin(swap, 'AMM.quote', () => promise, deadline.signal))
    deadline.abort()
    await answer
    fail(new Error('too late'))
    await new Promise((resolve) => {
      setImmediate(resolve)
    })

    expect(lines.map(({ message }) => message)).to.deep.equal([
      'left behind at the deadline of the request',
      'a defect of the plugin: it threw what is no SluiceError, or gave what is no answer',
    ])
  })

  it('has nothing against a verb that gives up when it is told to', async () => {
    const { swap, lines } = callee()
    const deadline = new AbortController()
    const { promise, reject: fail } = withReject()

    const answer = caught(callPlugin(swap, 'AMM.quote', () => promise, deadline.signal))
    deadline.abort()
    fail(deadline.signal.reason)
    expect(await answer).to.include({ name: 'TIMEOUT' })

    expect(lines.map(({ message }) => message)).to.deep.equal(['left behind at the deadline of the request'])
  })

  it('does not call at all when the deadline has passed', async () => {
    const { swap } = callee()
    let called = false

    const error = await caught(
      callPlugin(
        swap,
        'AMM.quote',
        () => {
          called = true
        },
        AbortSignal.abort(),
      ),
    )

    expect(error).to.include({ name: 'TIMEOUT' })
    expect(called).to.equal(false)
  })
})
