// What a plugin answers is parsed once into a frozen copy within bounds, whatever it is, and only the copy is used.
import { expect } from 'chai'
import {
  SluiceError,
  type BookMarket,
  type BookStream,
  type Chain,
  type Connector,
  type Plan,
  type Quote,
  type Swap,
} from '../../core/contracts/index.ts'
import { chainBoundary, connectorBoundary } from '../../core/plugins/code/boundary.ts'
import { keptLog } from './fixtures.ts'

const at = { signal: new AbortController().signal }
const head = { number: 1n, timestamp: 1 }
const token = { symbol: 'A', address: '0x0a', decimals: 18 }
const swap: Swap = { tokenIn: token, tokenOut: { ...token, address: '0x0b' }, exact: 'in', amountRaw: 5n }
const hop = { pool: '0x01', version: '', tokenIn: '0x0a', tokenOut: '0x0b' }
const quote = { swap, amountRaw: 1n, spotAmountRaw: 1n, gasUnits: 1n, route: [hop], head, spender: '0x0c' }
const plan: Plan = { steps: [{ to: '0x0c', value: '0' }], needs: [], memo: null }

/** The server's side of a connector that answers these. */
function connectorOf(answers: { quote?: () => unknown; swap?: () => unknown; fill?: () => unknown }) {
  const { log, lines } = keptLog()
  const methods = { versions: [], quote: async () => answers.quote?.(), swap: () => answers.swap?.(), fill: () => answers.fill?.() }
  const { AMM: amm } = connectorBoundary({ AMM: methods } as unknown as Connector, { plugin: 'hostile', log })
  if (!amm) throw new Error('It has one.')
  return {
    quote: () => amm.quote(swap, {}, at),
    swap: () => amm.swap(quote, { recipient: '0x0d', boundRaw: 1n, deadline: 1 }),
    fill: () => amm.fill(null, null),
    lines,
  }
}

/** Undefined where it did not fail. */
async function failure(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return undefined
}

/** How often each property was read. */
function counting<T extends object>(of: T): { proxy: T; reads: Map<PropertyKey, number> } {
  const reads = new Map<PropertyKey, number>()
  const proxy = new Proxy(of, {
    get(target, key) {
      reads.set(key, (reads.get(key) ?? 0) + 1)
      return Reflect.get(target, key)
    },
  })
  return { proxy, reads }
}

/** One value to the first who asks, another one to all others. */
function turning<T extends object, V>(of: T, key: string, ...values: readonly [V, V]): T {
  let asked = 0
  return Object.defineProperty(of instanceof Error ? of : { ...of }, key, { enumerable: true, get: () => values[Math.min(asked++, 1)] })
}

const million = 1_000_000
/** More each time. */
const growing = (from: number) => () => (from *= 100)
const isPlain = (value: object) => Object.values(Object.getOwnPropertyDescriptors(value)).every((each) => 'value' in each && !each.writable)

describe('the answer of a plugin', () => {
  it('gives each field once: a getter cannot tell the check one amount and the trade another', async () => {
    const answer = await connectorOf({ quote: () => turning(quote, 'amountRaw', 1n, 10n ** 18n) }).quote()
    expect([answer.amountRaw, answer.amountRaw]).to.deep.equal([1n, 1n])
    expect(isPlain(answer) && isPlain(answer.route) && isPlain(answer.head)).to.equal(true)
  })

  it('gives each field once from a proxy, too, and what its traps throw is the plugin’s failure', async () => {
    const { proxy, reads } = counting({ ...quote })
    expect(await connectorOf({ quote: () => proxy }).quote()).to.deep.equal(quote)
    reads.delete('then')
    expect([...reads.values()].every((count) => count === 1)).to.equal(true)

    const throwing = new Proxy(quote, {
      get: (_, key) => {
        if (key === 'then') return undefined
        throw new Error('not today')
      },
    })
    const { proxy: revoked, revoke } = Proxy.revocable([], {})
    revoke()
    for (const wrong of [throwing, { ...quote, route: throwing }, { ...quote, route: revoked }, { ...quote, head: revoked }])
      expect(await failure(connectorOf({ quote: () => wrong }).quote)).to.have.property('name', 'UNKNOWN_ERROR')
  })

  it('becomes a copy: a step that changes later is not the step that was checked', () => {
    const steps = [{ to: '0x0c', value: '0' }]
    const answer = connectorOf({ swap: () => ({ ...plan, steps }) }).swap()
    steps.push({ to: '0xbad', value: '1' })
    Object.assign(steps[0] ?? {}, { to: '0xbad' })
    expect(answer.steps).to.deep.equal([{ to: '0x0c', value: '0' }])
    expect(() => Object.assign(Object(answer.steps[0]), { to: '0xbad' })).to.throw(TypeError)

    const turned = connectorOf({ swap: () => ({ ...plan, steps: [turning({ to: '' }, 'to', '0x0c', '0xbad')] }) }).swap()
    expect(JSON.stringify([turned.steps, turned.steps])).not.to.contain('bad')
  })

  it('keeps what the interface has, and calls nothing of the plugin', () => {
    const call = () => expect.fail('it was called')
    const noisy = { ...plan, extra: 1, valueOf: call, toString: call, toJSON: call, memo: { a: undefined, b: -0 } }
    const { memo, ...answer } = connectorOf({ swap: () => noisy }).swap()
    expect(answer).to.deep.equal({ steps: plan.steps, needs: [] })
    expect(Object.entries(Object(memo))).to.deep.equal([['b', 0]])
    expect(Object.is(Object(memo).b, 0)).to.equal(true)
  })

  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  const wrongQuotes: Record<string, [() => object, RegExp]> = {
    'a first write that is no amount': [() => ({ firstWriteUnits: 1 }), /firstWriteUnits must be a bigint/],
    'a fee that is no text': [() => ({ route: [{ ...hop, fee: 0.003 }] }), /route\[0\]\.fee must be text/],
    'a share that is no text': [() => ({ route: [hop, { ...hop, share: {} }] }), /route\[1\]\.share must be text/],
    'an amount of four million bits': [() => ({ spotAmountRaw: 1n << 4_000_000n }), /spotAmountRaw must be a bigint of 0 or more/],
    'a route of a million hops': [() => ({ route: Array.from({ length: million }, () => hop) }), /route must have at most/],
    'a route whose length changes': [
      () => ({ route: new Proxy([hop], { get: () => ({ valueOf: growing(1) }) }) }),
      /route must have at most/,
    ],
    'a route that says it is endless': [() => ({ route: new Proxy([hop], { get: () => Infinity }) }), /route must have at most/],
    'text of a million characters': [() => ({ spender: 'x'.repeat(million) }), /spender must be text .* is text of 1000000 characters/],
    'a timestamp that is no number': [() => ({ head: { number: 1n, timestamp: Number.NaN } }), /head\.timestamp must be .* is NaN/],
    'half a character': [() => ({ spender: '\u{d800}' }), /spender must be text/],
  }
  for (const [what, [wrong, reason]] of Object.entries(wrongQuotes))
    it(`fails its request with ${what}, and the log says where`, async () => {
      const { quote: ask, lines } = connectorOf({ quote: () => ({ ...quote, ...wrong() }) })
      expect(await failure(ask))
        .to.be.instanceOf(SluiceError)
        .and.to.have.property('name', 'UNKNOWN_ERROR')
      expect(lines).to.have.length(1)
      expect(lines[0]?.fields).to.include({ plugin: 'hostile', verb: 'AMM.quote' })
      const { err } = Object(lines[0]?.fields)
      expect(err.message).to.match(reason)
      expect(err.message.length).to.be.lessThan(300)
    })

  const wrongPlans: Record<string, () => object> = {
    'a memo that holds itself': () => ({ memo: cyclic }),
    'a memo of 10 MB': () => ({ memo: 'x'.repeat(10 * million) }),
    'a memo of a million entries': () => ({ memo: Array.from({ length: million }, () => 0) }),
    'a memo with a number that JSON has not': () => ({ memo: { at: Infinity } }),
    'a memo with half a character': () => ({ memo: { name: '\u{dc00}' } }),
    'a memo with half a character as a key': () => ({ memo: { '\u{dc00}': 1 } }),
    'a memo with a bigint': () => ({ memo: [1n] }),
    'a memo that makes its own JSON': () => ({ memo: new Date(0) }),
    'a memo that sets a prototype': () => ({ memo: JSON.parse('{"__proto__":{}}') }),
    'no memo': () => ({ memo: undefined }),
    'no steps': () => ({ steps: [] }),
    'steps with holes': () => ({ steps: [{}, ...Array.from({ length: 1 }), {}] }),
    'a need that is none': () => ({ needs: [{ is: 'else' }] }),
    'a need below 0': () => ({ needs: [{ is: 'balance', token: '', amountRaw: -1n }] }),
    'a deadline that is no time': () => ({ deadline: 1.5 }),
  }
  for (const [what, wrong] of Object.entries(wrongPlans))
    it(`fails its request with a plan of ${what}`, async () => {
      expect(await failure(connectorOf({ swap: () => ({ ...plan, ...wrong() }) }).swap)).to.have.property('name', 'UNKNOWN_ERROR')
    })

  it('may be nothing where the interface says so', () => {
    expect(connectorOf({}).fill()).to.equal(undefined)
    expect(connectorOf({ fill: () => ({ amountInRaw: 1n, amountOutRaw: 2n, note: 'x' }) }).fill()).to.deep.equal({
      amountInRaw: 1n,
      amountOutRaw: 2n,
    })
  })
})

describe('what a plugin throws', () => {
  const huge = 'x'.repeat(100 * million)
  const sizeOf = (error: unknown): number => {
    const { message, stack, details } = Object(error)
    return JSON.stringify([message, stack, details]).length
  }
  const thrower = (thrown: () => unknown) => {
    const { fill, lines } = connectorOf({
      fill: () => {
        throw thrown()
      },
    })
    return { fill, lines }
  }

  const values: Record<string, () => unknown> = {
    'an error of 100 MB': () => new Error(huge),
    'text of 100 MB': () => huge,
    'a proxy whose traps throw': () =>
      new Proxy(new Error('x'), {
        get: () => expect.fail('read'),
        getPrototypeOf: () => expect.fail('asked'),
        has: () => expect.fail('asked'),
      }),
    'an error whose message is a getter that throws': () => Object.defineProperty(new Error('x'), 'message', { get: () => expect.fail() }),
    'an object with a toString': () => ({ toString: () => expect.fail('called') }),
    nothing: () => undefined,
  }
  for (const [what, thrown] of Object.entries(values))
    it(`becomes text within bounds: ${what}`, async () => {
      const { fill, lines } = thrower(thrown)
      const error = await failure(fill)
      expect(error).to.be.instanceOf(SluiceError).and.to.have.property('name', 'UNKNOWN_ERROR')
      expect(sizeOf(error)).to.be.lessThan(50_000)
      expect(sizeOf(Object(lines[0]?.fields).err)).to.be.lessThan(50_000)
      expect(sizeOf(Object(error).cause)).to.be.lessThan(50_000)
    })

  it('stays within bounds where it is an error for the caller, and says the same', async () => {
    const error = await failure(thrower(() => new SluiceError('PRICE_FAILED', huge, { details: { huge } })).fill)
    expect(error).to.be.instanceOf(SluiceError).and.to.have.property('name', 'PRICE_FAILED')
    expect(sizeOf(error)).to.be.lessThan(50_000)

    const said = await failure(thrower(() => turning(new SluiceError('PRICE_FAILED', 'No pool.'), 'message', 'a', 'b')).fill)
    expect([Object(said).message, Object(said).message]).to.deep.equal(['a', 'a'])
  })
})

describe('the rest of what crosses', () => {
  it('has properties that are read once, when the plugin is loaded', () => {
    const spenders = { v2: '0x0c' }
    const connector = connectorBoundary({ spenders }, { plugin: 'hostile', log: keptLog().log })
    spenders.v2 = '0xbad'
    expect(connector.spenders).to.deep.equal({ v2: '0x0c' })
    expect(() => Object.assign(Object(connector.spenders), { v2: '0xbad' })).to.throw(TypeError)
  })

  it('refuses a property that is not what the interface says', () => {
    const wrong = { spenders: { v2: 5 } } as unknown as Connector
    expect(() => connectorBoundary(wrong, { plugin: 'hostile', log: keptLog().log })).to.throw('spenders: v2 must be text')
  })

  it('has no part where there is none, and refuses what is no method', () => {
    const callee = { plugin: 'hostile', log: keptLog().log }
    const partless = connectorBoundary({ AMM: { followed: null }, spenders: null } as unknown as Connector, callee)
    expect(partless).to.deep.equal({ AMM: {} })
    expect(() => connectorBoundary({ AMM: { fill: {} } } as unknown as Connector, callee)).to.throw('AMM.fill is not a function')
  })

  it('has states that are followed as they are, and quotes of the server’s own swap and head', () => {
    const [state, followed] = [{ is: 'secret' }, {}]
    const about = new Map()
    const states = [state]
    const seen: unknown[] = []
    const pricing = {
      basis: () => [{ followed, key: 'a', about }],
      quote: (_swap: Swap, _choice: unknown, given: readonly unknown[]) => {
        seen.push(given)
        return { ...quote, swap: _swap, head }
      },
      vet: () => undefined,
    }
    const { AMM } = connectorBoundary({ AMM: { versions: [], followed: pricing } } as unknown as Connector, {
      plugin: 'one',
      log: keptLog().log,
    })
    const [basis] = AMM?.followed?.basis(swap, {}) ?? []
    expect(basis?.followed).to.equal(followed)
    expect(basis?.about).to.equal(about)
    const answer = AMM?.followed?.quote(swap, {}, states, head, 1) as Quote
    expect(seen[0]).to.equal(states)
    expect(answer.swap).to.equal(swap)
    expect(answer.head).to.equal(head)
  })

  it('has fields that may be left out, also where there may be no answer at all', async () => {
    const found: unknown[] = [token, { ...token, native: true }, undefined]
    const rail = { sequences: 'ordered' }
    const chain = { rail, token: async () => found.shift() } as unknown as Chain
    const callee = { plugin: 'one', log: keptLog().log }
    const { token: read } = chainBoundary(chain, callee)
    const tokens = [await read('', at), await read('', at), await read('', at)]
    expect(tokens).to.deep.equal([token, { ...token, native: true }, undefined])
  })

  it('has words of nodes that are cut, and no reason to lose track of a transaction', async () => {
    const reason = `${'x'.repeat(9_999)}\u{1f600}${'x'.repeat(million)}`
    const chain = { rail: { sequences: 'ordered', send: async () => ({ is: 'refused', reason }) } } as unknown as Chain
    const { rail } = chainBoundary(chain, { plugin: 'one', log: keptLog().log })
    const reception = await rail.send({ id: '', raw: new Uint8Array() }, at)
    expect(reception).to.deep.equal({ is: 'refused', reason: `${'x'.repeat(9_999)}\u{fffd}` })
  })

  it('has bytes that nobody changes after they were checked', () => {
    class Bytes extends Uint8Array {
      override get length() {
        return 0
      }
    }
    const bytes = Bytes.from([1, 2, 3])
    const chain = { rail: { sequences: 'ordered', draft: () => ({ scheme: 'evm-transaction', bytes }) } } as unknown as Chain
    const signable = chainBoundary(chain, { plugin: 'hostile', log: keptLog().log }).rail.draft({ step: null, fees: null }, null)
    bytes.fill(9)
    expect([...signable.bytes]).to.deep.equal([1, 2, 3])
    expect(Object.getPrototypeOf(signable.bytes)).to.equal(Uint8Array.prototype)
  })

  describe('with the updates of an order book', () => {
    const levels = [{ price: '2', quantity: '1' }]
    const good = { is: 'snapshot', book: { buys: levels, sells: [{ price: '3', quantity: '1' }] }, sequence: 1, timestamp: 2, secret: 'x' }
    const market = { id: 'A/B' } as BookMarket

    /** The server's side of a connector that streams these. */
    function streamOf(updates: readonly unknown[], snapshot: unknown = good) {
      const { log, lines } = keptLog()
      const books = {
        async watch(_market: unknown, sink: (update: unknown) => void) {
          for (const update of updates) sink(update)
        },
        snapshot: async () => snapshot,
      }
      const { CLOB: clob } = connectorBoundary({ CLOB: { books } } as unknown as Connector, { plugin: 'hostile', log })
      if (!clob) throw new Error('It has one.')
      const taken: unknown[] = []
      const { watch, snapshot: ask } = clob.books as BookStream
      return { lines, taken, watch: () => watch(market, (update) => taken.push(update), at.signal), ask: () => ask(market, at) }
    }

    it('takes frozen copies of what fits, and a fault in place of all else', async () => {
      const { watch, taken, lines } = streamOf([
        good,
        { is: 'change', follows: 1, sequence: 2, timestamp: 3, levels: [{ side: 'buys', price: '2', quantity: '0' }] },
        turning({ is: 'traded' }, 'lastPrice', '5', '6'),
        { is: 'change', follows: 2, sequence: 3, timestamp: 4, levels: [{ side: 'buys', price: '9'.repeat(million), quantity: '1' }] },
        { ...good, book: { buys: Array.from({ length: 100_001 }, () => levels[0]), sells: [] } },
        { is: 'lost', reason: 'x'.repeat(million) },
        null,
      ])
      await watch()
      const { secret: _, ...known } = good
      expect(taken.slice(0, 3)).to.deep.equal([
        known,
        { is: 'change', follows: 1, sequence: 2, timestamp: 3, levels: [{ side: 'buys', price: '2', quantity: '0' }] },
        { is: 'traded', lastPrice: '5' },
      ])
      expect(Object.isFrozen(taken[0])).to.equal(true)
      expect([taken[3], taken[4], taken[6]]).to.deep.equal([undefined, undefined, undefined])
      expect((taken[5] as { reason: string }).reason.length).to.be.at.most(1_001)
      expect(lines.map(({ message }) => message)).to.deep.equal(Array(3).fill('invalid update of an order book'))
    })

    it('refuses a snapshot that does not fit', async () => {
      expect(await failure(streamOf([], { ...good, sequence: 'first' }).ask))
        .to.be.instanceOf(SluiceError)
        .with.property('name', 'UNKNOWN_ERROR')
      expect(await streamOf([]).ask()).to.not.have.property('secret')
    })
  })
})
