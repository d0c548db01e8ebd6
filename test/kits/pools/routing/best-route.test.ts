import { expect } from 'chai'
import * as fc from 'fast-check'
import { bestRoute } from '../../../../kits/pools/routing/best-route.ts'
import { atSpot, routeOptionsOf, spotAlong, type RouteQuery } from '../../../../kits/pools/routing/graph.ts'
import { along, boundless, carrying, everyOutcome, everyRoute, exchange, graphOf, someBaskets, tokens } from './graph.ts'

const someQuery: fc.Arbitrary<RouteQuery> = fc.record({
  tokenIn: fc.constant('A'),
  tokenOut: fc.constant('B'),
  // The ends may be intermediates of the network themselves.
  intermediates: fc.shuffledSubarray(['A', 'B', 'I', 'J', 'K'], { minLength: 2 }),
  exact: fc.constantFrom('in' as const, 'out' as const),
  amountRaw: fc.bigInt(1n, 10n ** 10n),
})
const runs = { numRuns: 2_000 }
const free = () => 0n
const costing = (gasPriceRaw: bigint) => (gasUnits: bigint) => (gasUnits * gasPriceRaw) / 10n ** 5n
const optionsFor = (exact: 'in' | 'out', version?: string) => routeOptionsOf(exchange, exact, version)

describe('the best route through pools of several kinds', () => {
  it('gives the most, or takes the least, of all routes that a router takes', () => {
    let found = 0
    fc.assert(
      fc.property(someBaskets, someQuery, (baskets, query) => {
        const graph = graphOf(baskets)
        const { best } = bestRoute(graph, query, optionsFor(query.exact), free)
        const amounts = everyOutcome(graph, query).map(({ amountRaw }) => amountRaw)
        const most = amounts.reduce<bigint | undefined>(
          (a, b) => (a === undefined || (query.exact === 'in' ? b > a : b < a) ? b : a),
          undefined,
        )
        found += best && best.edges.length > 1 ? 1 : 0
        return best?.amountRaw === most
      }),
      runs,
    )
    expect(found).to.be.above(100)
  })

  it('leaves as much, net of gas, as the best of all routes', () => {
    let dearer = 0
    fc.assert(
      fc.property(someBaskets, someQuery, fc.bigInt(1n, 10n ** 6n), (baskets, query, gasPriceRaw) => {
        const graph = graphOf(baskets)
        const gasCost = costing(gasPriceRaw)
        const { best } = bestRoute(graph, query, optionsFor(query.exact), gasCost)
        const net = (amountRaw: bigint, gasUnits: bigint) => (query.exact === 'in' ? amountRaw : -amountRaw) - gasCost(gasUnits)
        const outcomes = everyOutcome(graph, query)
        if (!best) return outcomes.length === 0
        const netOfBest = net(best.amountRaw, along(best.edges, query)?.gasUnits ?? 0n)
        const better = outcomes.filter(({ amountRaw }) => (query.exact === 'in' ? amountRaw > best.amountRaw : amountRaw < best.amountRaw))
        dearer += better.length > 0 ? 1 : 0
        // Gas is rounded down.
        return outcomes.every(({ amountRaw, gasUnits }) => net(amountRaw, gasUnits) - netOfBest <= 1n)
      }),
      { numRuns: 10_000 },
    )
    expect(dearer).to.be.above(100)
  })

  it('stays the same if state is read step by step, and only of pools that could be on it', () => {
    let spared = 0
    fc.assert(
      fc.property(someBaskets, someQuery, fc.array(fc.nat(13)), (baskets, query, hidden) => {
        const unknown = new Set(hidden.map((index) => `pool ${index}`))
        // What would be too much for a pool only at best is not read on for, where there is another way.
        const pools = boundless(baskets)
        const compare = () =>
          bestRoute(
            graphOf(pools, (pool) => !unknown.has(pool)),
            query,
            optionsFor(query.exact),
            free,
          )
        let found = compare()
        while (found.missing.length > 0) {
          const before = unknown.size
          for (const { missing } of found.missing) unknown.delete(String(missing))
          if (unknown.size === before) return false
          found = compare()
        }
        spared += unknown.size
        return found.best?.amountRaw === bestRoute(graphOf(pools), query, optionsFor(query.exact), free).best?.amountRaw
      }),
      runs,
    )
    expect(spared).to.be.above(1_000)
  })

  const summaryOf = ({ best }: ReturnType<typeof bestRoute>) =>
    best && [best.amountRaw, best.gasUnits, best.edges.map(({ pool }) => pool.address)]

  it('stays the same with and without pruning', () => {
    const someGas = fc.bigInt(0n, 10n ** 4n)
    // Pools of whose prices nothing is known keep those that lead to them from being left out.
    const somePools = fc
      .tuple(someBaskets, fc.boolean())
      .map(([all, few]) => (few ? all.filter(({ version }) => version !== 'baskets') : all))
    let [passes, passesOfAll] = [0, 0]
    fc.assert(
      fc.property(somePools, someQuery, someGas, fc.array(fc.nat(13)), (baskets, query, gasPriceRaw, hidden) => {
        const isKnown = (pool: string) => !hidden.includes(Number(pool.split(' ')[1]))
        const options = optionsFor(query.exact)
        const found = bestRoute(
          graphOf(baskets, (pool) => (passes += 1) > 0 && isKnown(pool)),
          query,
          options,
          costing(gasPriceRaw),
        )
        const ofAll = bestRoute(
          graphOf(baskets, (pool) => (passesOfAll += 1) > 0 && isKnown(pool), false),
          query,
          options,
          costing(gasPriceRaw),
        )
        expect(summaryOf(found)).to.deep.equal(summaryOf(ofAll))
      }),
      { numRuns: 5_000 },
    )
    expect(passes).to.be.below(0.95 * passesOfAll)
  })

  it('stays the same whatever was quoted before', () => {
    const question = fc.record({
      exact: fc.constantFrom('in' as const, 'out' as const),
      amountRaw: fc.nat(33).chain((digits) => fc.bigInt(1n, 10n ** BigInt(digits))),
      version: fc.constantFrom(undefined, 'pairs', 'ticks'),
      gasPriceRaw: fc.bigInt(0n, 10n ** 16n),
    })
    // As between tokens of 6 and of 18 decimals.
    const scales = fc.tuple(...tokens.map(() => fc.constantFrom(1n, 10n ** 6n, 10n ** 18n)))
    fc.assert(
      fc.property(someBaskets, scales, fc.array(question, { minLength: 2, maxLength: 6 }), (baskets, scale, questions) => {
        const scaleOf = (token: string | undefined) => scale[tokens.findIndex((each) => each === token)] ?? 1n
        const pools = baskets.map((basket) => ({
          ...basket,
          reservesRaw: basket.reservesRaw.map((raw, index) => raw * scaleOf(basket.tokens[index])),
        }))
        const graph = graphOf(pools)
        for (const { exact, amountRaw, version, gasPriceRaw } of questions) {
          const asked = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I', 'J', 'K'], exact, amountRaw }
          const [options, gasCost] = [optionsFor(exact, version), costing(gasPriceRaw)]
          const found = summaryOf(bestRoute(graph, asked, options, gasCost))
          expect(found).to.deep.equal(summaryOf(bestRoute(graphOf(pools), asked, options, gasCost)))
          expect(found).to.deep.equal(summaryOf(bestRoute(graphOf(pools, undefined, false), asked, options, gasCost)))
        }
      }),
      runs,
    )
  })

  it('passes no pool and no token twice', () => {
    fc.assert(
      fc.property(someBaskets, someQuery, (baskets, query) => {
        const { best } = bestRoute(graphOf(baskets), query, optionsFor(query.exact), free)
        if (!best) return true
        const visited = [query.tokenIn, ...best.edges.map(({ passage }) => passage.tokenOut)]
        const passed = best.edges.map(({ pool }) => pool.address)
        return new Set(visited).size === visited.length && new Set(passed).size === passed.length && visited.at(-1) === query.tokenOut
      }),
      runs,
    )
  })

  it('has the requested version', () => {
    fc.assert(
      fc.property(someBaskets, someQuery, (baskets, query) => {
        const graph = graphOf(baskets)
        const { best } = bestRoute(graph, query, optionsFor(query.exact, 'ticks'), free)
        const possible = everyRoute(graph, query).some(
          (route) => route.every(({ protocol }) => protocol.version === 'ticks') && along(route, query),
        )
        return best ? best.edges.every(({ protocol }) => protocol.version === 'ticks') : !possible
      }),
      runs,
    )
  })

  it('names the first router that takes it', () => {
    fc.assert(
      fc.property(someBaskets, someQuery, (baskets, query) => {
        const { best } = bestRoute(graphOf(baskets), query, optionsFor(query.exact), free)
        if (!best) return true
        const versions = best.edges.map(({ protocol }) => protocol.version)
        return best.router === exchange.routers.find((router) => router.carries(versions, query.exact))
      }),
      runs,
    )
  })

  it('never beats its pools’ marginal prices without fees', () => {
    fc.assert(
      fc.property(someBaskets, someQuery, (baskets, query) => {
        const { best } = bestRoute(graphOf(baskets), query, optionsFor(query.exact), free)
        if (!best) return true
        const spotRaw = atSpot(spotAlong(best.edges, query.exact), query.amountRaw)
        return query.exact === 'in' ? best.amountRaw <= spotRaw : best.amountRaw >= spotRaw
      }),
      runs,
    )
  })

  const pool = (version: string, tokens: readonly string[], held: bigint, gasUnits = 60_000n) => ({
    version,
    tokens,
    reservesRaw: [held, held, held],
    feePercent: 0n,
    gasUnits,
  })
  const query = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I'], exact: 'in', amountRaw: 10n ** 6n } as const
  const deepRoundabout = [
    pool('pairs', ['A', 'B'], 10n ** 7n),
    pool('pairs', ['A', 'I'], 10n ** 12n),
    pool('pairs', ['I', 'B'], 10n ** 12n),
  ]

  for (const exact of ['in', 'out'] as const) {
    it(`takes the shorter way if gas costs more than the longer one gains (exact ${exact})`, () => {
      const hops = (gasCost: (gasUnits: bigint) => bigint) =>
        bestRoute(graphOf(deepRoundabout), { ...query, exact }, optionsFor(exact), gasCost).best?.edges.length
      expect(hops(free)).to.equal(2)
      expect(hops((gasUnits) => gasUnits * 10n)).to.equal(1)
    })
  }

  it('takes the cheaper of two last pools if the other gains less than its gas', () => {
    const two = [pool('ticks', ['A', 'B'], 10n ** 8n), pool('ticks', ['A', 'B'], 10n ** 12n, 400_000n)]
    const taken = (gasCost: (gasUnits: bigint) => bigint) =>
      bestRoute(graphOf(two), query, optionsFor('in'), gasCost).best?.edges[0]?.pool.address
    expect([taken(free), taken((gasUnits) => gasUnits)]).to.deep.equal(['pool 1', 'pool 0'])
  })

  it('mixes versions for an exact amount in, which a router takes, and not for an exact amount out', () => {
    const mixed = [pool('ticks', ['A', 'I'], 10n ** 12n), pool('pairs', ['I', 'B'], 10n ** 12n)]
    expect(bestRoute(graphOf(mixed), query, optionsFor('in'), free).best?.router.address).to.equal('mixing')
    expect(bestRoute(graphOf(mixed), { ...query, exact: 'out' }, optionsFor('out'), free).best).to.equal(undefined)
    const untaken = [pool('baskets', ['A', 'I'], 10n ** 12n), pool('pairs', ['I', 'B'], 10n ** 12n)]
    expect(bestRoute(graphOf(untaken), query, optionsFor('in'), free).best).to.equal(undefined)
  })

  it('needs few passes, though a nearly empty pool shows the best price', () => {
    const honest = Array.from({ length: 12 }, (_, index) => ({
      ...pool('pairs', ['A', 'B'], 10n ** 10n),
      feePercent: index === 11 ? 0n : 1n,
    }))
    const dust = { ...pool('pairs', ['A', 'B'], 1n), reservesRaw: [1_000n, 10_000n, 1n] }
    let passes = 0
    const graph = graphOf([...honest, dust], () => (passes += 1) > 0)
    const passesFor = (amountRaw: bigint) => {
      passes = 0
      expect(bestRoute(graph, { ...query, amountRaw }, optionsFor('in'), free).best?.edges[0]?.pool.address).to.equal('pool 11')
      return passes
    }
    // The one that shows the best price, and the one that is the best.
    expect([passesFor(10n ** 7n), passesFor(10n ** 7n + 1n)]).to.deep.equal([2, 2])
  })

  for (const exact of ['in', 'out'] as const) {
    it(`beats the one with the best price by half a millionth (exact ${exact})`, () => {
      const shallow = { ...pool('pairs', ['A', 'B'], 1n), reservesRaw: [10n ** 16n, 10n ** 16n + 10n ** 12n, 1n] }
      const deep = { ...pool('pairs', ['A', 'B'], 1n), reservesRaw: [10n ** 21n, 10n ** 21n + 5n * 10n ** 14n, 1n] }
      const { best } = bestRoute(graphOf([shallow, deep]), { ...query, exact, amountRaw: 10n ** 12n }, optionsFor(exact), free)
      expect(best?.edges[0]?.pool.address).to.equal('pool 1')
    })
  }

  it('turns up beside a better one that no router takes', () => {
    const [toB, fromA] = [pool('pairs', ['I', 'B'], 10n ** 12n), pool('pairs', ['A', 'I'], 10n ** 9n)]
    const alone = ['pairs', 'ticks'].map((version) => carrying(version, (route) => route.every((each) => each === version)))
    const oneWay = carrying('pairs before ticks', (route) => route.join() === 'pairs,ticks')
    const options = routeOptionsOf({ protocols: exchange.protocols, routers: [...alone, oneWay] }, 'in', undefined)
    const { best } = bestRoute(graphOf([toB, fromA, pool('ticks', ['A', 'I'], 10n ** 12n)]), query, options, free)
    expect(best?.edges.map(({ pool: { address } }) => address)).to.deep.equal(['pool 1', 'pool 0'])
  })

  it('takes the certain way as long as the other one has missing state', () => {
    const two = [pool('pairs', ['A', 'I'], 10n ** 8n), pool('pairs', ['A', 'I'], 10n ** 12n), pool('pairs', ['I', 'B'], 10n ** 12n)]
    const { best, missing } = bestRoute(
      graphOf(two, (address) => address !== 'pool 1'),
      query,
      optionsFor('in'),
      free,
    )
    expect(best?.edges.map(({ pool: { address } }) => address)).to.deep.equal(['pool 0', 'pool 2'])
    expect(new Set(missing.map((each) => each.missing))).to.deep.equal(new Set(['pool 1']))
  })

  it('avoids a second pass of a pool of three tokens, even if the other way gives less at first', () => {
    const shared = [pool('baskets', ['A', 'I', 'B'], 10n ** 12n), pool('baskets', ['A', 'I'], 10n ** 8n)]
    // Without the direct edge, the basket is worth most at its second pass: nothing else leads from I to B.
    const graph = graphOf(shared)
    const withoutDirect = {
      ...graph,
      edgesBetween: (from: string, to: string) => (from === 'A' && to === 'B' ? [] : graph.edgesBetween(from, to)),
    }
    const { best } = bestRoute(withoutDirect, query, optionsFor('in'), free)
    expect(best?.edges.map(({ pool: { address } }) => address)).to.deep.equal(['pool 1', 'pool 0'])
  })
})
