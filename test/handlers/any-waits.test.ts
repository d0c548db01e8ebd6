import { expect } from 'chai'
import type { GasTerms, Head, Quote, Swap } from '../../core/contracts/index.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { askConnectors } from '../../core/handlers/amm/any.ts'
import type { AskScope } from '../../core/handlers/amm/ask-each.ts'
import { createFairTurns } from '../../core/base/fair-turns.ts'

const token = (address: string) => ({ symbol: address, address, decimals: 6 })
const [coin, one, other] = [token('C'), token('A'), token('B')]
const at = { signal: new AbortController().signal }
const soon = () => new Promise<void>((resolve) => setImmediate(resolve))

/** What each connector gives for a unit, at most; undefined where a node is asked. */
type Prices = Readonly<Record<string, bigint>>

/** Connectors that give for a unit what they say at most, by the block that the network is at. */
class World {
  head: Head = { number: 1n, hash: '0x01', timestamp: 1 }
  prices: Prices = {}
  /** What the coin is worth in B, by whom. */
  coinPrices: Prices = {}
  gasPriceRaw = 0n
  turns: AskScope['services']['turns'] = { ...createFairTurns(), isOver: () => false }
  /** Before a quote, and before gas is known. */
  waits: { coin?: () => Promise<void>; gas?: () => Promise<void>; quote?: (connector: string) => Promise<void> | undefined } = {}
  readonly asked: string[] = []
  readonly coinAsked: string[] = []

  moveTo(number: bigint, prices: Prices, hash = `0x0${number}`): void {
    this.head = { number, hash, timestamp: 1 }
    this.prices = prices
  }

  private quote(connector: string, swap: Swap): Quote | Promise<Quote> {
    const isOfCoin = swap.tokenIn === coin
    const compute = (): Quote => {
      const price = (isOfCoin ? this.coinPrices : this.prices)[connector]
      if (price === undefined) throw new SluiceError('PAIR_NOT_FOUND', 'No pool.')
      if (price < 0n) throw new SluiceError('NETWORK', 'No answer.')
      const amountRaw = price * swap.amountRaw
      return { swap, amountRaw, spotAmountRaw: amountRaw, gasUnits: 10n, route: [], head: this.head, spender: '0x5' }
    }
    ;(isOfCoin ? this.coinAsked : this.asked).push(connector)
    const wait = isOfCoin ? this.waits.coin?.() : this.waits.quote?.(connector)
    return wait ? wait.then(compute) : compute()
  }

  scope(names: readonly string[]): AskScope {
    const impl = {
      changes: {},
      nativeCurrency: coin,
      gas: (units: bigint): GasTerms | Promise<GasTerms> => {
        const terms = () => ({ gasLimit: units, gasPriceRaw: this.gasPriceRaw, gasCostRaw: units * this.gasPriceRaw })
        const wait = this.waits.gas?.()
        return wait ? wait.then(terms) : terms()
      },
    }
    const venues = names.map((connector) => ({
      connector,
      builtIn: true,
      chain: 'ethereum',
      network: 'local',
      impl: { AMM: { versions: [], followed: { bound: () => undefined } } },
      config: { allowedSlippage: '1/100', ttl: 300 },
      recentQuotes: { counts: { memory: 0, rpc: 0 } },
      notReady: () => undefined,
      wake: async () => {},
    }))
    const quotes = {
      quote: ({ connector }: { connector: string }, swap: Swap) => this.quote(connector, swap),
      bound: ({ connector }: { connector: string }, swap: Swap) => {
        const price = this.prices[connector]
        return price === undefined || price < 0n ? undefined : { amountRaw: price * swap.amountRaw, gasUnits: 0n, head: this.head }
      },
      isCutOff: () => false,
      version: () => Number(this.head.number),
    }
    return {
      network: { chain: 'ethereum', network: 'local', impl },
      services: {
        registry: {
          venuesOn: () => venues,
          venue: (name: string) => venues.find(({ connector }) => connector === name),
          quarantined: () => undefined,
          onChange: () => () => {},
        },
        turns: this.turns,
        quotes,
      },
    } as unknown as AskScope
  }
}

const swap = { base: one, quote: other, side: 'SELL' as const, amountRaw: 100n }
const asking = { swap, connectors: undefined, allowedSlippage: undefined, onlyBest: true }

describe('the best of those that may be the best, where something is waited for', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    world.prices = { first: 100n, second: 50n, third: 100n }
    world.coinPrices = { first: 1n, second: 1n, third: 1n }
  })

  const best = async (asked: object = {}) => {
    const scope = world.scope(['first', 'second', 'third'])
    const { candidates, source } = await askConnectors({ ...asking, ...asked }, scope, at)
    return { connector: candidates[0].venue.connector, amountRaw: candidates[0].sourced.quote.amountRaw, source }
  }

  it('counts by the bounds of the block that there is after a turn of others, which it waits for once', async () => {
    let turnsTaken = 0
    world.turns = {
      ...world.turns,
      isOver: () => true,
      next: async () => {
        turnsTaken += 1
        world.moveTo(BigInt(1 + turnsTaken), { first: 100n, second: 200n, third: 90n })
      },
    }
    // A tie is asked, and others have their turn before. The coin has no price in itself that is to be asked for.
    expect(await best({ swap: { ...swap, quote: coin } })).to.deep.equal({ connector: 'second', amountRaw: 20_000n, source: 'memory' })
    expect(world.asked).to.deep.equal(['first', 'second'])
    expect(turnsTaken).to.equal(1)
  })

  it('counts by the bounds of the block that there is when the price of the coin was waited for', async () => {
    world.prices = { first: 100n, second: 50n, third: 60n }
    world.waits.coin = async () => {
      await soon()
      world.moveTo(2n, { first: 100n, second: 200n, third: 60n })
    }
    expect(await best()).to.deep.equal({ connector: 'second', amountRaw: 20_000n, source: 'rpc' })
  })

  it('counts by the bounds of the block that there is when the price of gas was waited for', async () => {
    world.prices = { first: 100n, second: 50n, third: 60n }
    let known = 0
    world.waits.gas = () => {
      known += 1
      if (known === 1) return undefined as unknown as Promise<void>
      return soon().then(() => world.moveTo(2n, { first: 100n, second: 200n, third: 60n }))
    }
    expect(await best()).to.deep.equal({ connector: 'second', amountRaw: 20_000n, source: 'rpc' })
  })
})

describe('a request to all connectors whose time is over while others have their turn', () => {
  it('fails once, and leaves no failure to nobody', async () => {
    const world = new World()
    world.prices = { first: 100n, second: 50n }
    world.waits.quote = async () => {
      throw new DOMException('over', 'AbortError')
    }
    world.turns = {
      ...world.turns,
      isOver: () => true,
      next: async () => {
        for (let turn = 0; turn < 3; turn += 1) await soon()
      },
    }
    const unhandled: unknown[] = []
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', (thrown) => unhandled.push(thrown))
    try {
      const asked = { ...asking, onlyBest: false }
      const failure = await Promise.resolve(askConnectors(asked, world.scope(['first', 'second']), at)).catch((error: unknown) => error)
      expect(failure).to.have.property('name', 'AbortError')
      expect(unhandled).to.deep.equal([])
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const each of others) process.on('unhandledRejection', each)
    }
  })
})

describe('the source of the best price', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    world.prices = { first: 100n, second: 50n }
    world.coinPrices = { first: 1n, second: 1n }
  })
  const sourceOf = async (scope: AskScope) => (await askConnectors(asking, scope, at)).source

  it('is memory where nothing was waited for', async () => {
    const scope = world.scope(['first', 'second'])
    expect([await sourceOf(scope), await sourceOf(scope)]).to.deep.equal(['memory', 'memory'])
  })

  it('is rpc where the price of the coin was asked for, and memory with the next amount', async () => {
    const scope = world.scope(['first', 'second'])
    world.waits.coin = soon
    expect([await sourceOf(scope), await sourceOf(scope)]).to.deep.equal(['rpc', 'memory'])
  })

  it('is rpc where a connector was waited for that is left out', async () => {
    world.prices = { first: 100n, second: -1n }
    world.waits.quote = (connector) => (connector === 'second' ? soon() : undefined)
    expect(await sourceOf(world.scope(['first', 'second']))).to.equal('rpc')
  })

  it('is rpc where the fee of a rollup was read', async () => {
    world.waits.gas = soon
    expect(await sourceOf(world.scope(['first', 'second']))).to.equal('rpc')
  })
})

describe('the price of the coin', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    world.gasPriceRaw = 1n
    world.prices = { first: 100n }
    world.coinPrices = { first: 1n, second: 1n }
  })
  const costOf = async (scope: AskScope) => (await askConnectors(asking, scope, at)).candidates[0].costRaw

  it('is found once a block, and anew for another block of the same number', async () => {
    const scope = world.scope(['first'])
    expect([await costOf(scope), await costOf(scope)]).to.deep.equal([10n, 10n])
    expect(world.coinAsked).to.deep.equal(['first'])
    world.coinPrices = { first: 3n }
    world.moveTo(1n, { first: 100n }, '0x0f')
    expect(await costOf(scope)).to.equal(30n)
  })

  it('is not kept where a connector was in trouble, nor where another one has become ready', async () => {
    const scope = world.scope(['first', 'second'])
    world.coinPrices = { first: 1n, second: -1n }
    expect(await costOf(scope)).to.equal(10n)
    world.coinPrices = { first: 1n, second: 2n }
    expect(await costOf(scope)).to.equal(20n)
    world.coinPrices = { first: 1n, second: 5n }
    expect(await costOf(scope), 'it is kept').to.equal(20n)
    const [, second] = scope.services.registry.venuesOn('', '')
    if (second) second.notReady = () => 'no answer'
    expect(await costOf(scope)).to.equal(10n)
  })

  it('is not kept by the block of the quotes where it is of another', async () => {
    const scope = world.scope(['first'])
    world.waits.coin = async () => {
      await soon()
      world.moveTo(2n, { first: 100n })
      world.coinPrices = { first: 7n }
    }
    expect(await costOf(scope)).to.equal(70n)
    delete world.waits.coin
    world.coinPrices = { first: 1n }
    world.moveTo(1n, { first: 100n })
    expect(await costOf(scope)).to.equal(10n)
  })
})
