import { expect } from 'chai'
import { leftOutOf } from '../../core/contracts/answers/contract.ts'
import { SluiceError, type CLOB, type Quote, type Swap } from '../../core/contracts/index.ts'
import { callPlugin, callPluginSync, connectorBoundary } from '../../core/plugins/code/boundary.ts'
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
  it('returns what the method returns', async () => {
    const { swap, lines } = callee()

    expect(await callPlugin(swap, 'AMM.quote', async () => 1, never)).to.equal(1)
    expect(await callPlugin(swap, 'AMM.fill', () => undefined, never)).to.equal(undefined)
    expect(callPluginSync(swap, 'AMM.swap', () => 2)).to.equal(2)
    expect(lines).to.deep.equal([])
  })

  it("passes a plugin's SluiceErrors to the caller, with all that callers see", async () => {
    const { swap, lines } = callee()
    const error = new SluiceError('PRICE_FAILED', 'No pool.', { details: { most: '1' }, retryAfterSeconds: 3 })
    const { name, code, http, message, details, retryAfterSeconds } = error

    expect(await caught(callPlugin(swap, 'AMM.quote', () => Promise.reject(error), never)))
      .to.be.instanceOf(SluiceError)
      .and.to.deep.include({ name, code, http, message, details, retryAfterSeconds })
    expect(() =>
      callPluginSync(swap, 'AMM.swap', () => {
        throw error
      }),
    ).to.throw(SluiceError, 'No pool.')
    expect(lines).to.deep.equal([])
  })

  for (const [how, call] of Object.entries({
    throws: () => {
      throw new TypeError('secret internals')
    },
    rejects: () => Promise.reject(new TypeError('secret internals')),
    'rejects with nothing': () => Promise.reject(),
  })) {
    it(`returns UNKNOWN_ERROR when a method ${how}, with the plugin and the reason in the log only`, async () => {
      const { swap, lines } = callee()

      const error = await caught(callPlugin(swap, 'AMM.quote', call, never))

      expect(error).to.be.instanceOf(SluiceError).and.to.include({ name: 'UNKNOWN_ERROR' })
      expect(String(error)).not.to.contain('secret internals')
      expect(lines[0]?.fields).to.include({ plugin: 'swap', verb: 'AMM.quote' })
    })
  }

  it('abandons a method that never settles at the deadline, and returns TIMEOUT', async () => {
    const { swap, lines } = callee()
    const deadline = new AbortController()

    const answer = caught(callPlugin(swap, 'AMM.quote', () => new Promise(() => {}), deadline.signal))
    deadline.abort()

    expect(await answer)
      .to.be.instanceOf(SluiceError)
      .and.to.include({ name: 'TIMEOUT' })
    expect(lines[0]?.fields).to.deep.equal({ plugin: 'swap', verb: 'AMM.quote' })
  })

  it('only logs what a method does after it was abandoned', async () => {
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
      'call into plugin abandoned at the deadline of the request',
      'defect of a plugin: it threw something other than a SluiceError, or returned an invalid answer',
    ])
  })

  it('logs no defect when a method heeds its signal', async () => {
    const { swap, lines } = callee()
    const deadline = new AbortController()
    const { promise, reject: fail } = withReject()

    const answer = caught(callPlugin(swap, 'AMM.quote', () => promise, deadline.signal))
    deadline.abort()
    fail(deadline.signal.reason)
    expect(await answer).to.include({ name: 'TIMEOUT' })

    expect(lines.map(({ message }) => message)).to.deep.equal(['call into plugin abandoned at the deadline of the request'])
  })

  it('does not call a method after the deadline', async () => {
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

describe('the boundary around a connector', () => {
  const at = { signal: never }
  const head = { number: 1n, timestamp: 1 }
  const token = { symbol: 'A', address: '0x0a', decimals: 18 }
  const swap: Swap = { tokenIn: token, tokenOut: { ...token, address: '0x0b' }, exact: 'in', amountRaw: 5n }
  const hop = { pool: '0x01', version: '', tokenIn: '0x0a', tokenOut: '0x0b' }
  const quote: Quote = { swap, amountRaw: 1n, spotAmountRaw: 1n, gasUnits: 1n, route: [hop], head, spender: '0x0c' }

  class Exchange {
    readonly #versions = ['v2']
    answer: unknown = quote
    get versions() {
      return this.#versions
    }
    async quote(): Promise<Quote> {
      return this.answer as Quote
    }
    swap(): never {
      throw new TypeError('broken')
    }
    fill() {
      return undefined
    }
  }

  it('reads properties from the implementation, and calls methods as its own', async () => {
    const amm = connectorBoundary({ AMM: new Exchange() }, callee().swap).AMM
    expect(amm?.versions).to.deep.equal(['v2'])
    expect(await amm?.quote(swap, {}, at)).to.deep.equal(quote)
    expect(amm?.fill({}, null)).to.equal(undefined)
  })

  for (const [what, wrong] of Object.entries({
    'an amount below 0': { amountRaw: -1n },
    'another swap': { swap: { ...swap, amountRaw: 6n } },
    'a first write that is not an amount': { firstWriteUnits: 1 },
    'a fee that is not text': { route: [{ ...hop, fee: 0.003 }] },
    'parts that are not the whole swap': { parts: [{ hops: 1, exactRaw: 4n, otherRaw: 1n }] },
  }))
    it(`refuses a quote with ${what}`, async () => {
      const [exchange, { swap: plugin, lines }] = [new Exchange(), callee()]
      exchange.answer = { ...quote, ...wrong }
      const error = await caught(connectorBoundary({ AMM: exchange }, plugin).AMM?.quote(swap, {}, at) ?? Promise.resolve())
      expect(error).to.have.property('name', 'UNKNOWN_ERROR')
      expect(lines[0]?.fields).to.include({ plugin: 'swap', verb: 'AMM.quote' })
    })

  it('returns UNKNOWN_ERROR for an error that a method throws at once', () => {
    const { AMM: amm } = connectorBoundary({ AMM: new Exchange() }, callee().swap)
    expect(() => amm?.swap(quote, { recipient: '0x0d', boundRaw: 1n, deadline: 1 })).to.throw(SluiceError)
  })
})

describe('lists that a plugin answers', () => {
  const balance = (symbol: unknown, total: unknown = '1') => ({ symbol, total, available: '0', locked: '0' })
  const asked = { signal: never }
  function bookOf(entries: readonly unknown[]) {
    const { swap, lines } = callee()
    const answer = async () => entries
    const book = { balances: answer, orders: answer } as unknown as Partial<CLOB>
    return { CLOB: connectorBoundary({ CLOB: book as CLOB }, swap).CLOB, lines }
  }

  it('lack the entries that are not what they should be, which are told, and warned of once', async () => {
    const wrong = [
      balance('B', 'much'),
      null,
      balance('A', '2'),
      balance('\ud800'),
      {
        get symbol() {
          throw new Error('gone')
        },
      },
    ]
    const { CLOB: book, lines } = bookOf([balance('A'), ...wrong, balance('a'), balance('C')])
    for (let times = 0; times < 2; times += 1) {
      const balances = (await book?.balances('w', asked)) ?? []
      expect(balances.map(({ symbol }) => symbol)).to.deep.equal(['A', 'a', 'C'])
      expect(leftOutOf(balances).map(({ name }) => name)).to.deep.equal(['B', '?', 'A', '\ufffd', '?'])
      for (const { reason } of leftOutOf(balances)) expect(reason).to.match(/must be|twice|cannot be read/)
    }
    expect(lines.map(({ level, fields }) => `${level} ${Object(fields).entry}`)).to.deep.equal(
      ['B', '?', 'A', '\ufffd', '?'].map((name) => `warn ${name}`),
    )
  })

  it('fail where no entry is right, and where one that is missing would be taken for one that is over', async () => {
    expect(await caught(bookOf([balance('B', 'much'), null]).CLOB?.balances('w', asked) ?? Promise.resolve())).to.have.property(
      'name',
      'UNKNOWN_ERROR',
    )
    expect(await caught(bookOf([{ orderId: 1 }]).CLOB?.orders('w', {}, asked) ?? Promise.resolve())).to.have.property(
      'name',
      'UNKNOWN_ERROR',
    )
    expect(await bookOf([]).CLOB?.balances('w', asked)).to.deep.equal([])
  })

  it('say how many more were left out than they name', async () => {
    const { CLOB: book } = bookOf([balance('A'), ...Array.from({ length: 150 }, () => balance('B', null))])
    const balances = (await book?.balances('w', asked)) ?? []
    expect(leftOutOf(balances)).to.have.length(101)
    expect(leftOutOf(balances).at(-1)?.reason).to.equal('50 more')
  })
})
