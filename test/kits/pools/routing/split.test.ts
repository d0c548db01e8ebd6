import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Swap, Token } from '../../../../core/contracts/index.ts'
import { bestRoute } from '../../../../kits/pools/routing/best-route.ts'
import { routeOptionsOf, type RouteQuery } from '../../../../kits/pools/routing/graph.ts'
import { bestSplit } from '../../../../kits/pools/routing/split.ts'
import { bestOfAll } from './exhaustive.ts'
import { exchange, graphOf, type BasketOf } from './graph.ts'

const splitting = { ...exchange, routers: exchange.routers.map((router) => ({ ...router, splits: () => true })) }
const queryFields = {
  tokenIn: fc.constant('A'),
  tokenOut: fc.constant('B'),
  intermediates: fc.constant(['I']),
  exact: fc.constantFrom('in' as const, 'out' as const),
}
const someQuery: fc.Arbitrary<RouteQuery> = fc.record({
  ...queryFields,
  // In whole hundredths: what rounding leaves is not what is compared.
  amountRaw: fc.bigInt(10n ** 8n, 10n ** 15n).map((each) => each * 100n),
})
const token = (address: string): Token => ({ symbol: address, address, decimals: 18 })
const swapAlong = ({ tokenIn, tokenOut, exact, amountRaw }: RouteQuery): Swap => ({
  tokenIn: token(tokenIn),
  tokenOut: token(tokenOut),
  exact,
  amountRaw,
})
const reserveRaw = fc.bigInt(10n ** 13n, 10n ** 17n)
/** So much in each that rounding is no basis point of anything. */
const denseBaskets: fc.Arbitrary<readonly BasketOf[]> = fc.array(
  fc.record({
    version: fc.constant('ticks'),
    tokens: fc.shuffledSubarray(['A', 'B', 'I'], { minLength: 2, maxLength: 2 }),
    reservesRaw: fc.tuple(reserveRaw, reserveRaw),
    feePercent: fc.bigInt(0n, 1n),
    gasUnits: fc.bigInt(40_000n, 300_000n),
  }),
  { minLength: 3, maxLength: 7 },
)
const thinRaw = fc.bigInt(100n, 5_000n)
/** Of tokens that have few units, such as whole cents. */
const thinBasket: fc.Arbitrary<BasketOf> = fc.record({
  version: fc.constant('ticks'),
  tokens: fc.shuffledSubarray(['A', 'B', 'I'], { minLength: 2, maxLength: 2 }),
  reservesRaw: fc.tuple(thinRaw, thinRaw),
  feePercent: fc.bigInt(0n, 1n),
  gasUnits: fc.constant(60_000n),
})
const deepRaw = fc.bigInt(10n ** 13n, 2n * 10n ** 13n)
const pairs = [
  ['A', 'B'],
  ['A', 'I'],
  ['A', 'J'],
  ['B', 'I'],
  ['B', 'J'],
  ['I', 'J'],
]
/** Three between each two of the tokens, all about as good: 75 routes, of which only exact bounds say which few are better. */
const evenBaskets: fc.Arbitrary<readonly BasketOf[]> = fc.tuple(
  ...[...pairs, ...pairs, ...pairs].map((tokens) =>
    fc.record({
      version: fc.constant('ticks'),
      tokens: fc.constant(tokens),
      reservesRaw: fc.tuple(deepRaw, fc.bigInt(985n, 1015n)).map(([each, price]) => [each, (each * price) / 1000n]),
      feePercent: fc.constant(0n),
      gasUnits: fc.bigInt(40_000n, 100_000n),
    }),
  ),
)
const gasPrices = fc.bigInt(0n, 10n ** 6n)
const gasCostAt = (gasPriceRaw: bigint) => (gasUnits: bigint) => gasUnits * gasPriceRaw
describe('a split swap', function () {
  this.timeout(180_000)
  it('comes within a basis point of the best split, and nearly always equals the best', () => {
    let [compared, equal, split] = [0, 0, 0]
    fc.assert(
      fc.property(denseBaskets, someQuery, gasPrices, (baskets, query, gasPriceRaw) => {
        const graph = graphOf(baskets)
        const options = routeOptionsOf(splitting, query.exact, undefined)
        const gasCost = gasCostAt(gasPriceRaw)
        const { best } = bestRoute(graph, query, options, gasCost)
        if (!best) return true
        const found = bestSplit(graph, { swap: swapAlong(query), query, options, gasCost, best })
        if (found && 'missing' in found) throw new Error('All is known.')
        const net = (otherRaw: bigint, gasUnits: bigint) => (query.exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)
        const ours = found ? net(found.amountRaw, found.gasUnits) : net(best.amountRaw, best.gasUnits)
        const theirs = bestOfAll({ graph, query, options, gasCost, swap: swapAlong(query) })
        const scale = Number(best.amountRaw)
        const distance = theirs ? (theirs.gain - Number(ours)) / scale : 0
        compared += 1
        split += found ? 1 : 0
        // Of whole units and of floating point.
        equal += distance < 1e-8 + 3 / scale ? 1 : 0
        return distance < 1e-4
      }),
      { numRuns: 600, seed: 1, endOnFailure: true },
    )
    expect(split).to.be.above(compared / 10)
    expect(equal).to.be.at.least(compared - 1)
  })

  it('leaves no route out before its exact bound is known, however many there are', () => {
    const large = fc.record({ ...queryFields, intermediates: fc.constant(['I', 'J']), amountRaw: fc.constant(6n * 10n ** 13n) })
    fc.assert(
      fc.property(evenBaskets, large, (baskets, query) => {
        const graph = graphOf(baskets)
        const options = routeOptionsOf(splitting, query.exact, undefined)
        const gasCost = gasCostAt(900n)
        const { best } = bestRoute(graph, query, options, gasCost)
        if (!best) return true
        const found = bestSplit(graph, { swap: swapAlong(query), query, options, gasCost, best })
        const ours = found && 'parts' in found ? found : best
        const gain = (query.exact === 'in' ? ours.amountRaw : -ours.amountRaw) - gasCost(ours.gasUnits)
        const theirs = bestOfAll({ graph, query, options, gasCost, swap: swapAlong(query) })
        return !theirs || theirs.gain - Number(gain) < Number(best.amountRaw) * 1e-4
      }),
      { numRuns: 150, seed: 1, endOnFailure: true },
    )
  })

  it('names its routes in one order, the largest share first, whatever order its pools are listed in', () => {
    let split = 0
    const partsOf = (baskets: readonly BasketOf[], query: RouteQuery) => {
      const graph = graphOf(baskets)
      const options = routeOptionsOf(splitting, query.exact, undefined)
      const { best } = bestRoute(graph, query, options, () => 0n)
      const found = best && bestSplit(graph, { swap: swapAlong(query), query, options, gasCost: () => 0n, best })
      return found && 'parts' in found ? found.parts.map(({ share }) => share) : []
    }
    fc.assert(
      fc.property(denseBaskets, someQuery, (baskets, query) => {
        const shares = partsOf(baskets, query)
        split += shares.length > 1 ? 1 : 0
        expect(shares).to.deep.equal(shares.toSorted((a, b) => b - a))
        expect(partsOf(baskets.toReversed(), query)).to.deep.equal(shares)
      }),
      { numRuns: 200, seed: 1, endOnFailure: true },
    )
    expect(split).to.be.above(20)
  })

  it('never does worse than the best single route, even for a few units', () => {
    let split = 0
    const coarse = fc.record({ ...queryFields, amountRaw: fc.bigInt(100n, 2_000n) })
    fc.assert(
      fc.property(fc.array(thinBasket, { minLength: 2, maxLength: 6 }), coarse, (baskets, query) => {
        const graph = graphOf(baskets)
        const options = routeOptionsOf(splitting, query.exact, undefined)
        const { best } = bestRoute(graph, query, options, () => 0n)
        if (!best) return true
        const found = bestSplit(graph, {
          swap: swapAlong(query),
          query,
          options,
          gasCost: () => 0n,
          best,
        })
        if (!found || 'missing' in found) return true
        split += 1
        return query.exact === 'in' ? found.amountRaw > best.amountRaw : found.amountRaw < best.amountRaw
      }),
      { numRuns: 2_000 },
    )
    expect(split).to.be.above(20)
  })

  it('comes out even if the best single route passes the pool that is best for a little', () => {
    const pool = (a: string, b: string, aRaw: bigint, bRaw: bigint): BasketOf => ({
      version: 'ticks',
      tokens: [a, b],
      reservesRaw: [aRaw, bRaw],
      feePercent: 0n,
      gasUnits: 40_000n,
    })
    // Through both its pools a swap goes best; a little to the first pool's other side is had for a tenth; the last is dearer from the start.
    const baskets = [
      pool('A', 'I', 10n ** 17n, 10n ** 17n),
      pool('I', 'B', 10n ** 17n, 10n ** 17n),
      pool('A', 'I', 10n ** 14n, 10n ** 15n),
      pool('A', 'B', 10n ** 17n, (10n ** 17n * 95n) / 100n),
    ]
    const query: RouteQuery = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I'], exact: 'in', amountRaw: 10n ** 15n }
    const graph = graphOf(baskets)
    const options = routeOptionsOf(splitting, 'in', undefined)
    const gasCost = () => 0n
    const { best } = bestRoute(graph, query, options, gasCost)
    if (!best) throw new Error('There is a way.')
    expect(best.edges.map(({ pool }) => pool.address)).to.deep.equal(['pool 0', 'pool 1'])
    const found = bestSplit(graph, { swap: swapAlong(query), query, options, gasCost, best })
    if (!found || 'missing' in found) throw new Error('It is split.')
    expect(found.parts.map((part) => part.edges.map(({ pool }) => pool.address).join())).to.have.members(['pool 2,pool 1', 'pool 3'])
  })

  it('gives a tenth to a pool that refuses a quarter, where many others are better for less', () => {
    const pool = (a: string, b: string, aRaw: bigint, bRaw: bigint, mostInRaw?: bigint): BasketOf => ({
      version: 'ticks',
      tokens: [a, b],
      reservesRaw: [aRaw, bRaw],
      feePercent: 0n,
      gasUnits: 40_000n,
      mostInRaw,
    })
    const deepRaw = 10n ** 18n
    const baskets = [
      pool('A', 'B', 10n ** 17n, 10n ** 17n),
      pool('A', 'B', deepRaw, (deepRaw * 95n) / 100n, 2n * 10n ** 15n),
      ...[72n, 72n].map((price) => pool('A', 'B', 10n ** 17n, price * 10n ** 15n)),
      // The best for little: routes that share this pool.
      pool('A', 'I', 2n * 10n ** 15n, 32n * 10n ** 14n),
      ...Array.from({ length: 13 }, () => pool('I', 'B', deepRaw, deepRaw)),
    ]
    const query: RouteQuery = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I'], exact: 'in', amountRaw: 2n * 10n ** 16n }
    const graph = graphOf(baskets)
    const options = routeOptionsOf(splitting, 'in', undefined)
    const gasCost = () => 0n
    const { best } = bestRoute(graph, query, options, gasCost)
    if (!best) throw new Error('There is a route.')
    expect(best.edges.map(({ pool }) => pool.address)).to.deep.equal(['pool 0'])
    const found = bestSplit(graph, { swap: swapAlong(query), query, options, gasCost, best })
    if (!found || 'missing' in found) throw new Error('It is split.')
    expect(found.parts.map(({ edges }) => edges[0]?.pool.address)).to.have.members(['pool 0', 'pool 1', 'pool 4'])
  })

  it('asks for missing state of a pool that could have a share, and of no other', () => {
    const pool = (outRaw: bigint): BasketOf => ({
      version: 'ticks',
      tokens: ['A', 'B'],
      reservesRaw: [10n ** 15n, outRaw],
      feePercent: 0n,
      gasUnits: 40_000n,
    })
    const query: RouteQuery = { tokenIn: 'A', tokenOut: 'B', intermediates: [], exact: 'in', amountRaw: 10n ** 14n }
    const [good, as, bad] = [pool(10n ** 15n), pool((10n ** 15n * 99n) / 100n), pool(10n ** 14n)]
    const split = (unknown: string | undefined) => {
      const graph = graphOf([good, as, bad], (address) => address !== unknown)
      const options = routeOptionsOf(splitting, 'in', undefined)
      const [edge] = graph.edgesBetween('A', 'B')
      const [router] = options.routers
      const passed = edge?.pass('in', query.amountRaw)
      if (!edge || !router || !passed || 'missing' in passed) throw new Error('The first pool is known.')
      const best = { edges: [edge], router, amountRaw: passed.amountRaw, gasUnits: 90_000n, firstWriteUnits: 0n }
      return bestSplit(graph, { swap: swapAlong(query), query, options, gasCost: () => 0n, best })
    }
    const found = split(undefined)
    if (!found || 'missing' in found) throw new Error('It is split.')
    expect(found.parts.map(({ edges }) => edges[0]?.pool.address)).to.have.members(['pool 0', 'pool 1'])
    const asked = split('pool 1')
    expect(asked && 'missing' in asked && asked.missing.map((each) => each.pool)).to.deep.equal(['pool 1'])
    expect(split('pool 2')).to.deep.include({ amountRaw: found.amountRaw })
  })
})
