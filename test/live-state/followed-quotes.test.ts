import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import type { Followed, FollowedPricing, Head, Swap } from '../../core/contracts/index.ts'
import { priceOfEach } from '../../core/handlers/amm/amounts.ts'
import { createSynchronisers, type Synchronisers } from '../../core/live-state/synchroniser.ts'
import type { QuoteUpdate } from '../../core/live-state/pair-quoter.ts'
import { createQuotes, type Quotes, type QuoteVenue } from '../../core/live-state/quotes.ts'
import { createForkChain, type ForkChain, type ChainEvent } from './fork-chain.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'

const [one, two, coin] = ['0x1', '0x2', '0xc'].map((address) => ({ symbol: address, address, decimals: 0 }))
if (!one || !two || !coin) throw new Error('There are three.')
const sell = (tokenIn: typeof one, amountRaw: bigint): Swap => ({ tokenIn, tokenOut: coin, exact: 'in', amountRaw })
const priced = ({ address }: typeof one, price: string): ChainEvent => ({ topic: 'price', key: address, what: price })

describe('subscriptions to quotes', () => {
  let test: ForkChain
  let following: Synchronisers
  let quotes: Quotes
  let venue: QuoteVenue
  let computed: bigint[]
  /** What changes all quotes beside the states, such as the price of gas. */
  let conditions = 0
  let vet: () => Promise<void> | undefined
  const ends: (() => void)[] = []

  beforeEach(() => {
    test = createForkChain()
    test.make(0, [[priced(one, '10'), priced(two, '20')]])
    start()
    computed = []
    vet = () => undefined
    venue = { chain: 'ethereum', network: 'local', connector: 'dex', chainImpl: test.chain, pricing: invented() }
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) end()
    await quotes.stop()
    following.stop()
  })

  function start(options: Partial<typeof keeping> = {}, maxQuotes = 1_000): void {
    following = createSynchronisers({ telemetry: createRecorder().telemetry, ...keeping, ...options })
    quotes = createQuotes({ following, maxQuotes, pairs: { known: [], save: async () => {} } })
  }

  /** An exchange of one price for each token, whatever the amount: what it was set to last. */
  function invented(): FollowedPricing {
    const followed = {
      follow: ['price'],
      keysOf: (change: ChainEvent) => [change.key],
      async load(keys: readonly string[], after: QuoteHead, { signal }: { signal: AbortSignal }) {
        await test.read('load', signal)
        return { head: after, states: new Map(keys.map((key) => [key, test.replay(key, after.hash ?? '').at(-1) ?? '0'])) }
      },
      apply: (_state: string, { what }: ChainEvent) => what,
    }
    return {
      basis: ({ tokenIn }) => [{ followed, key: tokenIn.address }],
      quote(swap, _choice, [price], head) {
        computed.push(swap.amountRaw)
        if (price === '0') throw new SluiceError('PRICE_FAILED', 'Nobody buys that.')
        if (price === 'gone') throw new SluiceError('PAIR_NOT_FOUND', 'No pool.')
        const amountRaw = swap.amountRaw * BigInt(String(price))
        return { swap, amountRaw, spotAmountRaw: amountRaw, gasUnits: 1n, route: [], head, spender: '0x5' }
      },
      conditions: () => String(conditions),
      vet: () => vet(),
    }
  }
  type QuoteHead = typeof test.tip

  function follow(swap: Swap) {
    const told: (string | number)[][] = []
    const end = quotes.follow(venue, swap, {}, (news) => void told.push(shown(news)))
    ends.push(end)
    return { told, end }
  }
  const shown = (news: QuoteUpdate): (string | number)[] =>
    news === undefined ? ['unknown'] : news instanceof SluiceError ? [news.name] : [Number(news.amountRaw), Number(news.head.number)]
  const number = () => Number(test.tip.number)
  /** Until all of a block is told. */
  const settled = () => until(() => following.of(venue).tip?.hash === test.tip.hash && !isBusy())
  const isBusy = () => computed.length !== seen && ((seen = computed.length), true)
  let seen = 0

  it('wait at the stop for pairs that are being saved', async () => {
    const saved: number[] = []
    const save = async (pairs: readonly unknown[]) => {
      await sleep(20)
      saved.push(pairs.length)
    }
    quotes = createQuotes({ following, maxQuotes: 1, pairs: { known: [], save } })
    await quotes.quote(venue, sell(one, 1n), {}, { signal: new AbortController().signal })
    const [first, second] = [quotes.stop(), quotes.stop()]
    await second
    expect(saved).to.deep.equal([1])
    await first
  })

  it('calls back at once and after each block that changes the quote, and after no other block', async () => {
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    const first = number()
    test.make(0, [[priced(one, '11')]])
    await until(() => told.length === 2)
    test.make(0, [[]])
    test.make(0, [[priced(two, '21')]])
    test.make(0, [[priced(one, '12'), priced(one, '13')]])
    await until(() => told.length === 3)
    expect(told).to.deep.equal([
      [20, first],
      [22, first + 1],
      [26, first + 4],
    ])
  })

  it('computes a quote once a block for all listeners, and never without one', async () => {
    const several = [follow(sell(one, 2n)), follow(sell(one, 2n)), follow(sell(one, 3n))]
    await until(() => several.every(({ told }) => told.length === 1))
    computed.length = 0
    test.make(0, [[priced(one, '11')]])
    await until(() => several.every(({ told }) => told.length === 2))
    expect(computed).to.have.members([2n, 3n]).and.have.length(2)
    expect(several[0]?.told).to.deep.equal(several[1]?.told)
    const late = follow(sell(one, 2n))
    expect(late.told).to.deep.equal([[22, number()]])
    for (const { end } of [...several, late]) end()
    test.make(0, [[priced(one, '12')]])
    await settled()
    expect(computed).to.have.length(2)
  })

  it('refuses every amount alike while there is no pool, without asking a built-in connector again', async () => {
    venue = { ...venue, builtIn: true }
    test.make(0, [[priced(one, 'gone')]])
    const at = { signal: new AbortController().signal }
    const refused = async (amountRaw: bigint) => {
      try {
        return await quotes.quote(venue, sell(one, amountRaw), {}, at)
      } catch (error) {
        return error
      }
    }
    const first = await refused(1n)
    expect(first).to.be.an.instanceOf(SluiceError).with.property('name', 'PAIR_NOT_FOUND')
    expect([await refused(2n), await refused(3n)]).to.deep.equal([first, first])
    expect(computed).to.deep.equal([1n])
    test.make(0, [[priced(one, '10')]])
    await until(() => following.of(venue).tip?.hash === test.tip.hash)
    expect(await refused(2n)).to.include({ amountRaw: 20n })
  })

  it('asks a connector that is not built in for each amount, whatever it refused', async () => {
    test.make(0, [[priced(one, 'gone')]])
    const at = { signal: new AbortController().signal }
    for (const amountRaw of [1n, 2n, 2n, 3n])
      try {
        await quotes.quote(venue, sell(one, amountRaw), {}, at)
      } catch (error) {
        expect(error).to.be.an.instanceOf(SluiceError).with.property('name', 'PAIR_NOT_FOUND')
      }
    expect(computed).to.deep.equal([1n, 2n, 2n, 3n])
  })

  it('asks for a bound that holds for every amount once for the states of a block, and for others each time', async () => {
    const asked: bigint[] = []
    let isForAll = true
    const bound: FollowedPricing['bound'] = ({ amountRaw }, _choice, [price]) => {
      asked.push(amountRaw)
      const each = BigInt(String(price))
      const forAll = { rateX128: each << 128n, offsetRaw: 1n }
      return { amountRaw: amountRaw * each + 1n, gasUnits: 7n, ...(isForAll && { forAll }) }
    }
    venue = { ...venue, pricing: { ...venue.pricing, bound } }
    const at = { signal: new AbortController().signal }
    await quotes.quote(venue, sell(one, 1n), {}, at)
    const boundOf = (swap: Swap) => {
      const { amountRaw, gasUnits, head } = quotes.bound(venue, swap, {}) ?? {}
      return [amountRaw, gasUnits, head?.number]
    }
    const first = test.tip.number
    expect([2n, 3n, 4n].map((amountRaw) => boundOf(sell(one, amountRaw)))).to.deep.equal([
      [21n, 7n, first],
      [31n, 7n, first],
      [41n, 7n, first],
    ])
    expect(asked).to.deep.equal([2n])
    // The other way round the same line says what has to go in, rounded up.
    const buys = [21n, 22n, 31n].map((amountRaw) => boundOf({ ...sell(one, amountRaw), exact: 'out' })[0])
    expect(buys.slice(1)).to.deep.equal([3n, 3n])
    expect(asked).to.deep.equal([2n, 21n])
    test.make(0, [[priced(one, '11')]])
    await until(() => following.of(venue).tip?.hash === test.tip.hash)
    isForAll = false
    expect([2n, 3n].map((amountRaw) => boundOf(sell(one, amountRaw))[0])).to.deep.equal([23n, 34n])
    expect(asked).to.deep.equal([2n, 21n, 2n, 3n])
  })

  it('keeps a quote that is asked for twice, as many as it may of all pairs together, and computes a forgotten one anew', async () => {
    await quotes.stop()
    following.stop()
    start({}, 10)
    const at = { signal: new AbortController().signal }
    const quote = (token: typeof one, amountRaw: bigint) => quotes.quote(venue, sell(token, amountRaw), {}, at)
    const amounts = Array.from({ length: 8 }, (_, index) => BigInt(index + 1))
    for (const amount of amounts) await quote(one, amount)
    expect(quotes.size).to.equal(0)
    for (const amount of amounts) await quote(one, amount)
    expect(computed).to.deep.equal([...amounts, ...amounts])
    const kept = await quote(one, 8n)
    expect([kept === (await quote(one, 8n)), quotes.size]).to.deep.equal([true, 8])
    expect(computed).to.have.length(16)

    // Those of the first pair make room for the third of the second.
    for (const amount of [...amounts, ...amounts]) {
      await quote(two, amount)
      expect(quotes.size).to.be.at.most(10)
    }
    expect(quotes.size).to.equal(8)
    computed.length = 0
    expect((await quote(two, 8n)).amountRaw).to.equal(160n)
    expect(computed).to.deep.equal([])
    expect((await quote(one, 8n)).amountRaw).to.equal(80n)
    expect(computed).to.deep.equal([8n])

    // A pair alone makes room for itself.
    for (let amount = 100n; amount < 150n; amount += 1n) for (const _ of ['once', 'twice']) await quote(one, amount)
    expect(quotes.size).to.be.within(1, 10)
  })

  it('computes quotes of changed pools before others', async () => {
    let told = 0
    const count = () => (told += 1)
    for (let amount = 1n; amount <= 50n; amount++)
      ends.push(quotes.follow(venue, sell(one, amount), {}, count), quotes.follow(venue, sell(two, 1_000n + amount), {}, count))
    await until(() => told === 100)
    for (const [token, isChanged] of [
      [two, (amount: bigint) => amount > 1_000n],
      [one, (amount: bigint) => amount < 1_000n],
    ] as const) {
      computed.length = 0
      conditions += 1
      test.make(0, [[priced(token, String(told))]])
      await until(() => computed.length === 100)
      expect(computed.map(isChanged)).to.deep.equal(Array.from({ length: 100 }, (_, index) => index < 50))
    }
  })

  it('computes nothing if neither the states nor the gas price changed', async () => {
    const [a, b] = [follow(sell(one, 2n)), follow(sell(two, 3n))]
    await until(() => a.told.length === 1 && b.told.length === 1)
    computed.length = 0
    test.make(0, [[]])
    test.make(0, [[priced(one, '11')]])
    await until(() => a.told.length === 2)
    expect(computed).to.deep.equal([2n])
    conditions += 1
    test.make(0, [[]])
    await until(() => computed.length === 3)
    expect(computed.slice(1)).to.have.members([2n, 3n])
    expect([a.told.length, b.told.length]).to.deep.equal([2, 1])
  })

  it('go back with a reorganisation', async () => {
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    test.make(0, [[priced(one, '11')], [priced(one, '12')]])
    await until(() => told.at(-1)?.[0] === 24)
    test.make(2, [[], [], []])
    await until(() => told.at(-1)?.[0] === 20)
    expect(told.at(-1)).to.deep.equal([20, number()])
  })

  it('sends undefined while the network is away, and the quote again when it is back', async () => {
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    test.fail()
    await until(() => told.length === 2)
    expect(told[1]).to.deep.equal(['unknown'])
    const late = follow(sell(one, 2n))
    expect(late.told).to.deep.equal([['unknown']])
    test.heal()
    await until(() => told.length === 3 && late.told.length === 2)
    expect(told[2]).to.deep.equal(late.told[1])
    expect(told[2]?.[0]).to.equal(20)
  })

  it('sends undefined if the network is away at the start', async () => {
    test.fail()
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    test.heal()
    await until(() => told.length === 2)
    expect(told).to.deep.equal([['unknown'], [20, number()]])
  })

  it('retries a failed quote even without a new block', async () => {
    vet = () => Promise.reject(new SluiceError('NETWORK', 'nobody there'))
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    vet = () => undefined
    await until(() => told.length === 2)
    expect(told).to.deep.equal([['unknown'], [20, number()]])
  })

  it('sends the refusal of the exchange until there is a quote', async () => {
    test.make(0, [[priced(one, '0')]])
    const { told } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    test.make(0, [[]])
    await settled()
    test.make(0, [[priced(one, '7')]])
    await until(() => told.length === 2)
    expect(told).to.deep.equal([['PRICE_FAILED'], [14, number()]])
  })

  it('keeps the states of followed quotes in memory, also without blocks', async () => {
    following.stop()
    start({ idleSeconds: 0, maxKeys: 1 })
    const { told, end } = follow(sell(one, 2n))
    await until(() => told.length === 1)
    test.asked.length = 0
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(test.asked.filter((what) => what === 'load')).to.deep.equal([])
    expect(() => quotes.follow(venue, sell(two, 1n), {}, () => {})).to.throw('the maximum')
    end()
    await until(() => following.of(venue).size === 0)
  })
})

describe('prices of several amounts', () => {
  /** What a pool was seen to give after one block, as pools whose hooks act in swaps: each amount is tried on the chain. */
  interface PriceTrials {
    readonly price: string
    readonly block?: string
    readonly tried: readonly bigint[]
  }
  /** As a kit does, of one reading. */
  const maxTrials = 48
  let test: ForkChain
  let following: Synchronisers
  let quotes: Quotes
  /** While trials are read. */
  let meanwhile: () => void
  /** Until then nothing of a block is read. */
  let reading = Promise.resolve()
  const at = { signal: new AbortController().signal }

  beforeEach(() => {
    test = createForkChain()
    test.make(0, [[priced(one, '10'), priced(two, '20')]])
    meanwhile = () => {}
    reading = Promise.resolve()
    following = createSynchronisers({ telemetry: createRecorder().telemetry, ...keeping })
    quotes = createQuotes({ following, maxQuotes: 1_000, pairs: { known: [], save: async () => {} } })
  })
  afterEach(async () => {
    await quotes.stop()
    following.stop()
  })

  const venueOf = (connector: string): QuoteVenue => ({
    chain: 'ethereum',
    network: 'local',
    connector,
    chainImpl: test.chain,
    pricing: trying(),
  })

  function trying(): FollowedPricing {
    const isAsked = (state: unknown): state is PriceTrials => typeof state === 'object' && state !== null && 'tried' in state
    const followed: Followed = {
      follow: ['price'],
      keysOf: (change) => [(change as unknown as ChainEvent).key],
      async load(keys, after, { signal }, known) {
        await test.read('load', signal)
        if (known) meanwhile()
        const block = after.hash ?? ''
        const states = keys.map((key): [string, PriceTrials] => {
          const { more = [], state } = known?.get(key) ?? {}
          const before = isAsked(state) && state.block === block ? state.tried : []
          return [
            key,
            { price: test.replay(key, block).at(-1) ?? '0', block, tried: [...before, ...more.map(Number).map(BigInt).slice(-maxTrials)] },
          ]
        })
        return { head: after, states: new Map(states) }
      },
      apply: (state, change) => ({ ...(state as PriceTrials), price: (change as unknown as ChainEvent).what }),
    }
    return {
      basis: ({ tokenIn }) => [{ followed, key: tokenIn.address }],
      quote(swap, _choice, [state], head, left) {
        if (!isAsked(state)) throw new Error('no state')
        const isKnown = state.block === head.hash && state.tried.includes(swap.amountRaw)
        if (!isKnown && left > 0) return { missing: [{ index: 0, more: String(swap.amountRaw) }] }
        if (!isKnown) throw new SluiceError('PRICE_FAILED', 'The pool counts as one that refuses.')
        const amountRaw = swap.amountRaw * BigInt(state.price)
        return { swap, amountRaw, spotAmountRaw: amountRaw, gasUnits: 1n, route: [], head, spender: '0x5' }
      },
      vet: () => undefined,
    }
  }

  /** As the handler asks: a price of each amount, by one connector or the first of several. */
  const seriesOf = async (amounts: readonly string[], venues: readonly QuoteVenue[]) =>
    priceOfEach({ amounts }, async (amount, block) => {
      const swap = sell(one, BigInt(amount))
      const [quote] = await Promise.all(venues.map(async (venue) => quotes.quote(venue, swap, {}, at, block)))
      if (!quote) throw new Error('no venue')
      return {
        ...shownAs,
        amount,
        price: String(quote.amountRaw / swap.amountRaw),
        blockNumber: Number(quote.head.number),
        source: 'memory',
      }
    })
  const shownAs = {
    base: '0x1',
    quote: '0xc',
    rawAmount: '0',
    expectedAmount: '0',
    priceImpact: '0',
    slippagePrice: '0',
    route: [],
    gasPrice: 0,
    gasPriceToken: 'ETH',
    gasLimit: 0,
    gasCost: '0',
  }
  const eight = ['1', '2', '3', '4', '5', '6', '7', '8']

  for (const [name, connectors] of [
    ['of a connector whose swaps are tried', ['dex']],
    ['of several connectors', ['dex', 'other', 'third']],
  ] as const)
    it(`come from one block while blocks come: ${name}`, async () => {
      const venues = connectors.map(venueOf)
      let price = 10
      meanwhile = () => test.make(0, [[priced(one, String((price += 1)))]])
      for (let round = 0; round < 5; round += 1) {
        const { quotes: series = [] } = await seriesOf(eight, venues)
        const shown = series.map((each) => ('price' in each ? `${each.blockNumber} ${each.price}` : each.error.name))
        expect(new Set(shown), shown.join()).to.have.length(1)
        expect(series.map(({ amount }) => amount)).to.deep.equal(eight)
        test.make(0, [[priced(one, String((price += 1)))]])
      }
    })

  it('cover each of thirty amounts, with as few questions as trials allow', async () => {
    const thirty = Array.from({ length: 30 }, (_, index) => String(index + 1))
    const venue = venueOf('dex')
    await seriesOf(eight, [venue])
    test.asked.length = 0
    const { quotes: series = [] } = await seriesOf([...thirty, ...thirty.map((each) => `${each}00`)], [venue])
    expect(series.filter((each) => 'error' in each)).to.deep.equal([])
    expect(test.asked.filter((what) => what === 'load')).to.have.length(2)
  })

  it('are given to each of hundreds that ask at once, though one reading has room for few of their amounts', async () => {
    const venue = venueOf('dex')
    const asked = Array.from({ length: 300 }, async (_, index) => quotes.quote(venue, sell(one, BigInt(index + 1)), {}, at))
    const outcomes = await Promise.all(asked.map((each) => each.then(({ amountRaw }) => amountRaw, String)))
    expect(outcomes).to.deep.equal(outcomes.map((_, index) => 10n * BigInt(index + 1)))
  })

  for (const [what, saysAlways] of [
    ['while it is not known', false],
    ['each time that it is asked', true],
  ] as const)
    it(`are made of all that a block says besides its changes, which the connector names ${what}`, async () => {
      const venue = { ...venueOf('dex'), pricing: byFeeOfBlock(saysAlways) }
      const quoted = async (amountRaw: bigint) => {
        const { head, amountRaw: outRaw } = await quotes.quote(venue, sell(one, amountRaw), {}, at)
        return [head.hash, outRaw]
      }
      const shown = async () => {
        const found = await quotes.pools(venue, sell(one, 1n), { depths: [], most: 1 }, at)
        return [found?.head.hash, found?.pools[0]?.fee, found?.isKnown]
      }
      await quoted(1n)
      for (let round = 0; round < 4; round += 1) {
        let read = () => {}
        reading = new Promise<void>((resolve) => (read = resolve))
        test.make(0, [[]])
        await until(() => following.of(venue).tip?.hash === test.tip.hash)
        const fee = String(test.tip.number)
        // The block is there, and what it says besides is not read yet.
        const asked = round % 2 === 0 ? ([shown(), quoted(3n)] as const) : undefined
        const series = seriesOf(['1', '2'], [venue])
        const alone = asked ?? ([shown(), quoted(3n)] as const)
        await sleep(0)
        read()
        const prices = (await series).quotes ?? []
        expect(prices.map((each) => ('price' in each ? each.price : each.error.name))).to.deep.equal([fee, fee])
        expect(await Promise.all(alone)).to.deep.equal([
          [test.tip.hash, fee, false],
          [test.tip.hash, 3n * test.tip.number],
        ])
        expect(await shown(), 'from memory').to.deep.equal([test.tip.hash, fee, true])
      }
    })

  /** Its price is the number of the block, where that was read; else 0. @param saysAlways whether it asks for that again though it has it */
  function byFeeOfBlock(saysAlways: boolean): FollowedPricing {
    interface FeeOfBlock {
      readonly block?: string | undefined
    }
    const followed: Followed = {
      follow: ['price'],
      keysOf: () => [],
      async load(keys, after, { signal }, known) {
        await test.read('load', signal)
        await reading
        const block = (key: string) => (known?.get(key)?.more.includes(`fee of ${after.hash}`) ? after.hash : undefined)
        return { head: after, states: new Map(keys.map((key): [string, FeeOfBlock] => [key, { block: block(key) }])) }
      },
      apply: (state) => state,
      ofBlock: (state, { hash }) => (!saysAlways && (state as FeeOfBlock).block === hash ? [] : [`fee of ${hash}`]),
    }
    const priceOf = (state: unknown, { hash, number }: Head) => ((state as FeeOfBlock).block === hash ? number : 0n)
    return {
      basis: ({ tokenIn }) => [{ followed, key: tokenIn.address }],
      quote(swap, _choice, [state], head) {
        const amountRaw = swap.amountRaw * priceOf(state, head)
        return { swap, amountRaw, spotAmountRaw: amountRaw, gasUnits: 1n, route: [], head, spender: '0x5' }
      },
      async pools({ tokenIn, tokenOut }, _choice, [state], head) {
        const passage = { tokenIn: tokenIn.address, tokenOut: tokenOut.address }
        const spot = { numerator: 1n, denominator: 1n }
        return [{ pool: '0x6', version: 'v1', tokens: [], ...passage, fee: String(priceOf(state, head)), spot, depth: [] }]
      },
      vet: () => undefined,
    }
  }

  it('fail as a whole where the node has lost the block', async () => {
    const venue = venueOf('dex')
    await seriesOf(['1'], [venue])
    test.make(0, [[]])
    await until(() => following.of(venue).tip?.hash === test.tip.hash)
    test.fail(new SluiceError('NETWORK', 'header not found'), 'load')
    expect(await seriesOf(eight, [venue]).catch((error: unknown) => error)).to.have.property('name', 'NETWORK')
    test.heal()
    expect((await seriesOf(eight, [venue])).quotes).to.have.length(8)
  })
})
