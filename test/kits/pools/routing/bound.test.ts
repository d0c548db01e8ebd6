import { expect } from 'chai'
import * as fc from 'fast-check'
import { boundBy } from '../../../../core/base/amount-bound.ts'
import type { Token } from '../../../../core/contracts/index.ts'
import type { PoolExchange } from '../../../../kits/amm/index.ts'
import { priceSwap } from '../../../../kits/pools/price.ts'
import { swapBound } from '../../../../kits/pools/routing/bound.ts'
import { routeOptionsOf, type PoolGraph, type RouteQuery } from '../../../../kits/pools/routing/graph.ts'
import { exchange, graphOf, protocols, someBaskets, type BasketOf } from './graph.ts'

const token = (address: string): Token => ({ symbol: address, address, decimals: 18 })
const splitting: PoolExchange = { ...exchange, routers: exchange.routers.map((router) => ({ ...router, splits: () => true })) }
/** Those that say what their best price is. */
const bounded: fc.Arbitrary<readonly BasketOf[]> = someBaskets.map((baskets) =>
  baskets.map((basket, index) => (basket.version === 'baskets' ? { ...basket, version: index % 2 === 0 ? 'pairs' : 'ticks' } : basket)),
)
const someQuery: fc.Arbitrary<RouteQuery> = fc.record({
  tokenIn: fc.constant('A'),
  tokenOut: fc.constant('B'),
  intermediates: fc.constantFrom(['I'], ['I', 'J'], ['A', 'I', 'J', 'K']),
  exact: fc.constantFrom('in' as const, 'out' as const),
  amountRaw: fc.nat(45).chain((bits) => fc.bigInt(1n, 2n ** BigInt(bits))),
})

/** The quote of an exchange by these pools; undefined where it refuses. */
function quoted(
  graph: PoolGraph,
  { tokenIn, tokenOut, intermediates, exact, amountRaw }: RouteQuery,
  of: PoolExchange,
  gasPriceRaw: bigint,
) {
  const snapshot = {
    head: { number: 1n, timestamp: 1 },
    graph,
    options: routeOptionsOf(of, exact, undefined),
    version: undefined,
    wrapped: token('I'),
    intermediates: intermediates.map(token),
    intermediateAddresses: intermediates,
    gasPriceRaw,
  }
  try {
    const quote = priceSwap(snapshot, { tokenIn: token(tokenIn), tokenOut: token(tokenOut), exact, amountRaw }, 0)
    return 'missing' in quote ? undefined : quote
  } catch {
    return undefined
  }
}

describe('the bound of an exchange', function () {
  this.timeout(180_000)

  for (const [how, of] of [
    ['by one route', exchange],
    ['by several routes at once', splitting],
  ] as const)
    it(`is no worse than any quote ${how}`, () => {
      let [compared, split] = [0, 0]
      fc.assert(
        fc.property(bounded, someQuery, fc.constantFrom(0n, 1n, 10n), (baskets, query, gasPriceRaw) => {
          const graph = graphOf(baskets)
          const bound = swapBound(graph, query, routeOptionsOf(of, query.exact, undefined))
          const quote = quoted(graph, query, of, gasPriceRaw)
          // The same line holds for every amount.
          const other = query.amountRaw + 7n
          const ofOther = swapBound(graph, { ...query, amountRaw: other }, routeOptionsOf(of, query.exact, undefined))
          if (bound?.forAll && ofOther?.amountRaw !== boundBy(bound.forAll, query.exact, other)) return false
          if (bound && !bound.forAll) return false
          if (!quote) return true
          compared += 1
          if (quote.parts) split += 1
          if (!bound) return false
          const isWithin = query.exact === 'in' ? quote.amountRaw <= bound.amountRaw : quote.amountRaw >= bound.amountRaw
          return isWithin && quote.gasUnits >= bound.gasUnits
        }),
        { numRuns: 4_000 },
      )
      expect(compared).to.be.above(1_000)
      if (of === splitting) expect(split).to.be.above(50)
    })

  const query: RouteQuery = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I'], exact: 'in', amountRaw: 1_000n }
  const basket = (version: string, tokens: readonly string[]): BasketOf => ({
    version,
    tokens,
    reservesRaw: [10n ** 9n, 10n ** 9n, 10n ** 9n],
    feePercent: 1n,
    gasUnits: 60_000n,
  })
  const boundOf = (baskets: readonly BasketOf[], fields: Partial<RouteQuery> = {}, of = exchange) => {
    const asked = { ...query, ...fields }
    return swapBound(graphOf(baskets), asked, routeOptionsOf(of, asked.exact, undefined))
  }

  it('is absent where a pool on a route has none, and only there', () => {
    const pair = basket('pairs', ['A', 'B'])
    expect(boundOf([pair, basket('baskets', ['A', 'I']), basket('baskets', ['I', 'B'])])).to.equal(undefined)
    expect(boundOf([pair, basket('baskets', ['I', 'J'])])?.amountRaw).to.equal(990n)
  })

  it('says that nothing comes out where no route leads to the token', () => {
    expect(boundOf([basket('pairs', ['A', 'I'])])?.amountRaw).to.equal(0n)
    expect(boundOf([basket('pairs', ['A', 'I'])], { exact: 'out' })?.amountRaw).to.equal(2n ** 256n - 1n)
  })

  it('has the offset of each pool, as often as a swap may have routes', () => {
    const offsetting = protocols.map((protocol) => ({
      ...protocol,
      spotIsBest: undefined as never,
      rateBound: () => ({ rateX128: 2n ** 128n, offsetRaw: 5n }),
    }))
    const pools = graphOf([basket('pairs', ['A', 'I']), basket('pairs', ['I', 'B'])]).pools.map(({ pool }) => pool)
    const [first] = offsetting
    if (!first) throw new Error('There are protocols.')
    const { edgesBetween, ...rest } = graphOf([])
    const edge = (tokenIn: string, tokenOut: string) => {
      const pool = pools.find(({ tokens }) => tokenIn !== tokenOut && tokens.includes(tokenIn) && tokens.includes(tokenOut))
      const passage = { tokenIn, tokenOut }
      return pool
        ? [
            {
              protocol: first,
              pool,
              passage,
              pass: () => undefined,
              estimate: () => undefined,
              rateX128: () => 1n,
              maxRate: () => Infinity,
              spot: () => ({ numerator: 1n, denominator: 1n }),
              hop: () => ({ pool: pool.address, version: 'v2', fee: '0', ...passage }),
            },
          ]
        : edgesBetween(tokenIn, tokenOut)
    }
    const options = routeOptionsOf({ ...exchange, protocols: offsetting }, 'in', undefined)
    // Two pools in a row: 5 × 1 + 5, and up to three routes of them; each rate is rounded up.
    expect(swapBound({ ...rest, edgesBetween: edge }, query, options)?.amountRaw).to.equal(1_000n + 3n * 11n)
  })
})
