import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import Type from 'typebox'
import { Decimal } from '../../core/api/endpoint.ts'
import { abortable, withDeadline } from '../../core/base/async.ts'
import { opaque } from '../../core/contracts/answers/contract.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { errorBody } from '../../core/http/request-steps.ts'
import { boundary } from '../../core/plugins/code/boundary.ts'
import { Deadline } from '../../core/handlers/deadline.ts'
import { cachedQueryReader } from '../../core/config/query-reader.ts'
import { fieldsReader } from '../../core/config/field-reader.ts'

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('the deadline of a request', () => {
  it('starts no timer for an answer at once', () => {
    const before = timers()
    expect(new Deadline(30).bound(() => 7)).to.equal(7)
    expect(timers()).to.equal(before)
  })

  it('leaves no timer behind, whether the work returns, fails or throws at once', async () => {
    // Mocha's own, for a test that waits, begins with the first wait.
    await sleep(1)
    const before = timers()
    const [given, failed, thrown, unused] = [new Deadline(30), new Deadline(30), new Deadline(30), new Deadline(30)]
    expect(await given.bound(async () => given.signal.aborted)).to.equal(false)
    await Promise.resolve(failed.bound(async () => Promise.reject(new Error('x')))).catch(() => {})
    expect(() => thrown.bound(() => expect.fail(String(thrown.signal.aborted)))).to.throw('false')
    void unused.bound(() => unused.signal)
    expect(timers()).to.equal(before)
  })

  it('answers TIMEOUT a moment after the work’s signal was aborted', async () => {
    const deadline = new Deadline(0.01)
    const late = await Promise.resolve(deadline.bound(() => sleep(60_000, 'late', { ref: false }))).catch((error: unknown) => error)
    expect(late).to.have.property('name', 'TIMEOUT')
    expect(deadline.signal.aborted).to.equal(true)
  })

  it('ends early where its caller ends it, before the work or while it lasts, and leaves no listener', async () => {
    for (const isBefore of [true, false]) {
      const caller = new AbortController()
      if (isBefore) caller.abort()
      const deadline = new Deadline(30, undefined, caller.signal)
      const ending = Promise.resolve(deadline.bound(() => abortable(never(), deadline.signal))).catch((error: unknown) => error)
      if (!isBefore) caller.abort()
      expect(await ending)
        .to.include({ name: 'TIMEOUT' })
        .and.have.property('message')
        .that.contains('The caller ended the request')
      expect(getEventListeners(caller.signal, 'abort')).to.deep.equal([])
    }
  })

  it('ends with the one that it is part of, before the work, while it lasts and where nobody asked for a signal', async () => {
    for (const isBefore of [true, false])
      for (const hasSignal of [true, false]) {
        const whole = new Deadline(30)
        if (isBefore) whole.end()
        const part = new Deadline(30, undefined, whole)
        const work = () => (hasSignal ? abortable(never(), part.signal) : never())
        const ending = Promise.resolve(whole.bound(() => part.bound(work))).catch((error: unknown) => error)
        if (!isBefore) whole.end()
        expect(await ending)
          .to.include({ name: 'TIMEOUT' })
          .and.have.property('message')
          .that.contains('The caller ended the request')
        expect([whole.isOver, part.isOver, part.signal.aborted, whole.signal.aborted]).to.deep.equal([true, true, true, true])
      }
  })

  const never = () => new Promise<never>(() => {})
  for (const [how, wait] of Object.entries<(signal: AbortSignal) => Promise<unknown>>({
    'the reason of its signal': (signal) => abortable(never(), signal),
    'the error of a timer that its signal ended': (signal) => sleep(60_000, undefined, { signal, ref: false }),
    'the error of work that has a shorter deadline of its own': (signal) => withDeadline(signal, 5, (inner) => abortable(never(), inner)),
    'the error of work that somebody else has ended': () => abortable(never(), AbortSignal.abort()),
  }))
    it(`answers TIMEOUT where a handler throws ${how}`, async () => {
      const deadline = new Deadline(0.02)
      const thrown = await Promise.resolve(deadline.bound(() => wait(deadline.signal))).catch((error: unknown) => error)
      expect(errorBody(thrown, 'r').body).to.include({ name: 'TIMEOUT', httpErrorCode: 504, requestId: 'r' })
      if (deadline.signal.aborted) expect(errorBody(thrown, 'r').body.message).to.contain('No answer within 0.02 s')
    })

  it('answers with what a handler has to say after the deadline, and with a defect as such', async () => {
    for (const said of [new SluiceError('TRADE_FAILED', 'no'), new Error('a defect')]) {
      const deadline = new Deadline(0.01)
      const work = () => abortable(never(), deadline.signal).catch(() => Promise.reject(said))
      expect(await Promise.resolve(deadline.bound(work)).catch((error: unknown) => error)).to.equal(said)
    }
  })
})

describe('cached queries', () => {
  const schema = Type.Object({ base: Type.String(), depth: Type.Optional(Type.Integer()) }, { additionalProperties: false })

  it('come frozen, and need no more reading once they were asked for twice', () => {
    const readSearch = cachedQueryReader(fieldsReader(schema))
    const [first, second, third] = ['once', 'twice', 'again'].map(() => readSearch('base=WETH&depth=3'))
    for (const question of [first, second]) {
      expect(question?.request).to.deep.equal({ base: 'WETH', depth: 3 })
      expect(Object.isFrozen(question?.request)).to.equal(true)
    }
    expect(third).to.equal(second)
  })

  it('come with frozen lists', () => {
    const listed = { tokens: Type.Array(Type.String()), amount: Type.Optional(Decimal('Of base.')) }
    const readSearch = cachedQueryReader(fieldsReader(Type.Object(listed, { additionalProperties: false })))
    const queries = ['tokens=A,B', 'tokens=A,B', 'tokens=A,B', 'tokens=A&amount=1', 'tokens=A&amount=2', `tokens=${'A,'.repeat(300)}B`]
    for (const { request } of queries.map((query) => readSearch(query))) expect(Object.isFrozen(request.tokens)).to.equal(true)
    const readSeries = cachedQueryReader(fieldsReader(Type.Object({ amounts: Type.Array(Decimal('Of base.')) })))
    const series = ['1,2', '1,3', '4'].map((each) => readSeries(`amounts=${each}`).request.amounts)
    expect(series).to.deep.equal([['1', '2'], ['1', '3'], ['4']])
    expect(series.every(Object.isFrozen)).to.equal(true)
  })

  it('throw their problems each time', () => {
    const readSearch = cachedQueryReader(fieldsReader(schema))
    for (let time = 0; time < 2; time += 1) expect(() => readSearch('bass=WETH')).to.throw('did you mean "base"?')
  })

  it('share one hidden class, however many amounts come', () => {
    const fields = { chain: Type.String(), base: Type.String(), quote: Type.String(), amount: Decimal('Of base.'), side: Type.String() }
    const readSearch = cachedQueryReader(fieldsReader(Type.Object(fields, { additionalProperties: false })))
    const requestOf = (amount: number) => readSearch(`chain=ethereum&base=WETH&quote=USDC&amount=${amount}.5&side=SELL`).request
    setFlagsFromString('--allow-natives-syntax')
    const haveSameClass = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (one: object, other: object) => boolean
    // Compiled with its first call.
    expect(haveSameClass({ a: 1 }, { b: 1 })).to.equal(false)
    setFlagsFromString('--no-allow-natives-syntax')
    // V8 copies differently once it has seen some.
    const requests = Array.from({ length: 1_000 }, (_, amount) => requestOf(amount))
    expect(requests.slice(-100).every((each) => haveSameClass(each, requests[500] ?? {}))).to.equal(true)
  })

  it('make room after some hundred others', () => {
    let reads = 0
    const read = fieldsReader(schema)
    const readSearch = cachedQueryReader<{ base: string }>((fields, from) => ((reads += 1), read(fields, from)))
    for (let each = 0; each < 2_000; each += 1) for (const _ of ['once', 'twice', 'again']) readSearch(`base=T${each}`)
    expect(reads).to.equal(4_000)
    readSearch('base=T0')
    expect(reads).to.equal(4_001)
  })
})

describe('a plugin’s method that may return at once', () => {
  const callee = { plugin: 'one', log: { debug() {}, info() {}, warn() {}, error() {} } }
  const contract = { gas: { answer: opaque<unknown>(), atOnce: true } } as const
  const at = {
    get signal(): AbortSignal {
      return expect.fail('nobody has to wait')
    },
  }

  it('passes its value on without a wait', () => {
    expect(boundary({ gas: (units: bigint, _at: object): unknown => units }, contract, callee).gas(5n, at)).to.equal(5n)
  })

  it('has not answered in time where it throws what ended a wait of its own', async () => {
    const [aborted, timedOut] = [AbortSignal.abort().reason, new DOMException('not done', 'TimeoutError')]
    const foreign = Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' })
    for (const reason of [aborted, timedOut, foreign]) {
      const chain = boundary({ gas: (_units: bigint, _at: object): unknown => Promise.reject(reason) }, contract, callee)
      const late = await Promise.resolve(chain.gas(5n, { signal: AbortSignal.timeout(10_000) })).catch((error: unknown) => error)
      expect(late).to.have.property('name', 'TIMEOUT')
      expect(late).to.have.property('message').that.contains("'one' did not answer in time")
    }
  })

  it('has until the deadline if it returns a promise, and takes the blame for what it throws', async () => {
    const chain = boundary({ gas: (_units: bigint, _at: object): unknown => new Promise(() => {}) }, contract, callee)
    const late = await Promise.resolve(chain.gas(5n, { signal: AbortSignal.timeout(10) })).catch((error: unknown) => error)
    expect(late).to.have.property('name', 'TIMEOUT')
    const broken = boundary({ gas: (_units: bigint, _at: object): unknown => expect.fail('broken') }, contract, callee)
    expect(() => broken.gas(5n, at)).to.throw("'one' has failed")
  })
})
