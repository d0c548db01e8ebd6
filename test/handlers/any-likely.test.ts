import { expect } from 'chai'
import * as fc from 'fast-check'
import { SluiceError } from '../../core/base/errors.ts'
import type { FollowedPricing, Head, Quote, Swap, Token } from '../../core/contracts/index.ts'
import { askConnectors } from '../../core/handlers/amm/any.ts'
import type { AskScope } from '../../core/handlers/amm/ask-each.ts'
import type { Candidates } from '../../core/handlers/amm/candidates.ts'
import type { SwapRequest } from '../../core/handlers/amm/quote.ts'
import { createQuotes, type Quotes } from '../../core/live-state/quotes.ts'
import { createSynchronisers, type Synchronisers } from '../../core/live-state/synchroniser.ts'
import { priceSwap } from '../../kits/pools/price.ts'
import { swapBound } from '../../kits/pools/routing/bound.ts'
import { routeOptionsOf, type PoolGraph } from '../../kits/pools/routing/graph.ts'
import { exchange, graphOf, type BasketOf } from '../kits/pools/routing/graph.ts'
import { createForkChain, type ChainEvent, type ForkChain } from '../live-state/fork-chain.ts'
import { keeping } from '../live-state/keeping.ts'
import { createRecorder, until } from '../live-state/recorder.ts'

const token = (address: string): Token => ({ symbol: address, address, decimals: 6 })
const coin = token('I')
const splitting = { ...exchange, routers: exchange.routers.map((router) => ({ ...router, splits: () => true })) }
const at = { signal: new AbortController().signal }

/** Of two or three tokens each; those of baskets have no bound. */
const pools = [
  { version: 'pairs', tokens: ['A', 'B'] },
  { version: 'ticks', tokens: ['A', 'B'] },
  { version: 'ticks', tokens: ['A', 'I'] },
  { version: 'pairs', tokens: ['I', 'B'] },
  { version: 'baskets', tokens: ['A', 'I', 'B'] },
]

interface Exchange {
  readonly name: string
  readonly pools: readonly number[]
  readonly splits?: true
  readonly builtIn?: false
  /** Instead of what is proven. */
  readonly says?: FollowedPricing['bound']
}
const exchanges: readonly Exchange[] = [
  { name: 'pairs', pools: [0, 3] },
  { name: 'ticks', pools: [1, 2, 3] },
  { name: 'splitting', pools: [0, 1, 2, 3], splits: true },
  { name: 'unbounded', pools: [4] },
  { name: 'without', pools: [] },
  // What a plugin says of itself changes nothing.
  { name: 'modest', pools: [0], builtIn: false, says: () => ({ amountRaw: 0n, gasUnits: 10n ** 9n }) },
]

const aBasket = fc.record({
  reservesRaw: fc.tuple(...[0, 1, 2].map(() => fc.bigInt(10n ** 8n, 10n ** 10n))),
  feePercent: fc.bigInt(0n, 2n),
  gasUnits: fc.bigInt(60_000n, 300_000n),
})
/** What a pool is from a block on; a block on top of the last, or in place of some. */
const aStep = fc.record({
  back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) }),
  changes: fc.array(fc.record({ exchange: fc.nat(exchanges.length - 1), pool: fc.nat(2), basket: aBasket }), { maxLength: 4 }),
  side: fc.constantFrom('BUY' as const, 'SELL' as const),
  amounts: fc.array(
    fc.nat(32).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits))),
    { minLength: 1, maxLength: 3 },
  ),
})
const aWorld = fc.record({
  first: fc.array(aBasket, { minLength: 12, maxLength: 12 }),
  gasPriceRaw: fc.constantFrom(0n, 1n, 100n),
  steps: fc.array(aStep, { minLength: 1, maxLength: 8 }),
})

/** As text of a log. */
const textOf = (basket: unknown) => JSON.stringify(basket, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
const basketOf = (text: string) =>
  JSON.parse(text, (_, value: unknown) => (typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value))

describe('the best of those that may be the best', function () {
  this.timeout(300_000)
  let test: ForkChain
  let following: Synchronisers
  let quotes: Quotes
  /** How many quotes connectors gave. */
  const given = { memory: 0, rpc: 0 }

  function pricingOf({ name, pools: own, splits, says }: Exchange, gasPriceRaw: bigint): FollowedPricing {
    const followed = {
      follow: ['pool'],
      keysOf: (change: ChainEvent) => [change.key],
      load: async (keys: readonly string[], after: Head) => ({
        head: after,
        states: new Map(keys.map((key) => [key, test.replay(key, after.hash ?? '').at(-1) ?? '{}'])),
      }),
      apply: (_state: string, { what }: ChainEvent) => what,
    }
    const graphs = new WeakMap<readonly unknown[], PoolGraph>()
    const graphFor = (states: readonly unknown[]): PoolGraph => {
      const known = graphs.get(states)
      if (known) return known
      const graph = graphOf(own.map((pool, index): BasketOf => ({ ...(pools[pool] ?? pools[0]), ...basketOf(String(states[index])) })))
      graphs.set(states, graph)
      return graph
    }
    const of = splits ? splitting : exchange
    const snapshot = ({ exact }: Swap, states: readonly unknown[], head: Head) => ({
      head,
      graph: graphFor(states),
      options: routeOptionsOf(of, exact, undefined),
      version: undefined,
      wrapped: coin,
      intermediates: [coin],
      intermediateAddresses: [coin.address],
      gasPriceRaw,
    })
    return {
      basis: () => own.map((_, index) => ({ followed, key: `${name} ${index}` })),
      quote(swap, _choice, states, head) {
        const priced = priceSwap(snapshot(swap, states, head), swap, 0)
        if ('missing' in priced) throw new Error('Nothing is missing.')
        return priced
      },
      bound: (swap, choice, states, head) => {
        if (says) return says(swap, choice, states, head)
        const { graph, options } = snapshot(swap, states, head)
        const { tokenIn, tokenOut, exact, amountRaw } = swap
        return swapBound(graph, { tokenIn: tokenIn.address, tokenOut: tokenOut.address, intermediates: ['I'], exact, amountRaw }, options)
      },
      vet: () => undefined,
    }
  }

  function scopeOf(gasPriceRaw: bigint): AskScope {
    const impl = {
      ...test.chain,
      nativeCurrency: coin,
      gas: (units: bigint) => ({ gasLimit: units, gasPriceRaw, gasCostRaw: units * gasPriceRaw }),
    }
    const venues = exchanges.map((each) => ({
      connector: each.name,
      builtIn: each.builtIn ?? true,
      chain: 'ethereum',
      network: 'local',
      impl: { AMM: { versions: [], followed: pricingOf(each, gasPriceRaw) } },
      config: { allowedSlippage: '1/100', ttl: 300 },
      recentQuotes: { counts: given },
      notReady: () => undefined,
    }))
    const registry = { venuesOn: () => venues, quarantined: () => undefined, onChange: () => () => {} }
    return {
      network: { chain: 'ethereum', network: 'local', impl },
      services: { registry, turns: { isOver: () => false }, quotes },
    } as unknown as AskScope
  }

  const outcomeOf = async (ask: () => Candidates | Promise<Candidates>) => {
    try {
      const { candidates, leftOut } = await ask()
      const [best] = candidates
      const { head, ...quote }: Quote = best.sourced.quote
      return { connector: best.venue.connector, quote, block: head.hash, costRaw: best.costRaw, gas: best.gas, leftOut }
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      return { error: error.name, details: error.details }
    }
  }

  it('is the best of all, to the unit, whatever the pools are and whichever blocks are replaced', async () => {
    let [compared, askedAll, askedLikely] = [0, 0, 0]
    await fc.assert(
      fc.asyncProperty(aWorld, async ({ first, gasPriceRaw, steps }) => {
        test = createForkChain()
        following = createSynchronisers({ telemetry: createRecorder().telemetry, ...keeping })
        quotes = createQuotes({ following, maxQuotes: 1_000, pairs: { known: [], save: async () => {} } })
        const keys = exchanges.flatMap(({ name, pools: own }) => own.map((_, index) => `${name} ${index}`))
        const events = keys.map((key, index): ChainEvent => ({ topic: 'pool', key, what: textOf(first[index % first.length]) }))
        test.make(0, [events])
        const scope = scopeOf(gasPriceRaw)
        const connectors = exchanges.map(({ name }) => name)
        for (const { back, changes, side, amounts } of steps) {
          const happened = changes.flatMap(({ exchange: index, pool, basket }): ChainEvent[] => {
            const { name, pools: own } = exchanges[index] ?? { name: '', pools: [] }
            return pool < own.length ? [{ topic: 'pool', key: `${name} ${pool}`, what: textOf(basket) }] : []
          })
          // The first block is never taken back: pools are as they were at the last block before.
          test.make(Math.min(back, Number(test.tip.number) - 101), [happened, ...Array.from({ length: back }, () => [])])
          for (const amountRaw of amounts) {
            const swap: SwapRequest = { base: token('A'), quote: token('B'), side, amountRaw }
            const request = { swap, connectors, allowedSlippage: undefined }
            const all = () => askConnectors(request, scope, at)
            // All are in memory, at the last block.
            await outcomeOf(all)
            const { chain: chainImpl } = test
            const synchroniser = following.of({ chain: 'ethereum', network: 'local', chainImpl })
            await until(() => synchroniser.tip?.hash === test.tip.hash)
            await outcomeOf(all)
            given.memory = 0
            const likely = await outcomeOf(() => askConnectors({ ...request, onlyBest: true }, scope, at))
            askedLikely += given.memory
            given.memory = 0
            const each = await outcomeOf(all)
            askedAll += given.memory
            compared += 1
            if ('error' in each) expect(likely).to.deep.equal(each)
            else expect(likely).to.deep.equal({ ...each, leftOut: 'leftOut' in likely ? likely.leftOut : [] })
          }
        }
        await quotes.stop()
        following.stop()
      }),
      { numRuns: 60 },
    )
    expect(compared).to.be.above(100)
    expect(askedLikely / askedAll).to.be.below(0.95)
  })
})
