import { expect } from 'chai'
import * as fc from 'fast-check'
import { search } from '../../../kits/pools/routing/best-route.ts'
import { poolGraphOf, type RouteQuery } from '../../../kits/pools/routing/graph.ts'
import { maxAmountIn, maxAmountOut } from '../../../kits/pools/price.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { graphOf } from './routing/graph.ts'

const pairs = v2Protocol('v2', [3n, 1000n], { factory: `0x${'1'.repeat(40)}`, initCodeHash: `0x${'2'.repeat(64)}` })
const versions = new Set(['v2'])
const query: RouteQuery = { tokenIn: 'A', tokenOut: 'B', intermediates: ['I', 'J'], exact: 'out', amountRaw: 1n }
const lanesThrough = (tokens: readonly string[], reserves: readonly (readonly [bigint, bigint])[]) =>
  poolGraphOf(
    reserves.map(([reserve0Raw, reserve1Raw], index) => ({
      protocol: pairs,
      pool: { address: `pool ${index}`, tokens: tokens.slice(index, index + 2), state: { reserve0Raw, reserve1Raw } },
    })),
  )
const way = (hops: number) => ['A', ...['I', 'J'].slice(0, hops - 1), 'B']
const reserve = fc.bigInt(1000n, 2n ** 111n)

describe('the maximum of an exact amount', () => {
  it('can be traded, and a single pool refuses a little more', () => {
    let had = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(reserve, reserve), { minLength: 1, maxLength: 3 }), (reserves) => {
        const graph = lanesThrough(way(reserves.length), reserves)
        const maxRaw = maxAmountOut(graph, query, versions)
        if (maxRaw === undefined) return true
        had += 1
        return search(graph, { ...query, amountRaw: maxRaw }, versions, true).routes.length > 0
      }),
    )
    expect(had).to.be.above(50)
    expect(maxAmountOut(lanesThrough(way(1), [[10n ** 18n, 1000n]]), query, versions)).to.equal(999n)
  })

  it('stays unknown if rounding leaves nothing over, so that it cannot be traded after all', () => {
    // The second pool gives 1 for 1000 exactly, and getAmountIn asks 1001 for it: more than the first pool has to give.
    const graph = lanesThrough(way(2), [
      [10n ** 18n, 1001n],
      [997n, 2n],
    ])
    expect(maxAmountOut(graph, query, versions)).to.equal(undefined)
  })

  it('equals all that the first pool takes', () => {
    const graph = lanesThrough(way(1), [[10n ** 24n, 10n ** 24n]])
    const maxRaw = maxAmountIn(graph, { ...query, exact: 'in' }, versions) ?? 0n
    const taken = (amountRaw: bigint) => search(graph, { ...query, exact: 'in', amountRaw }, versions, true).routes.length
    expect([taken(maxRaw), taken(maxRaw + 1n)]).to.deep.equal([1, 0])
  })

  it('stays unknown if a pool does not say what it takes', () => {
    const silent = graphOf([{ version: 'pairs', tokens: ['A', 'B'], reservesRaw: [10n ** 9n, 10n ** 9n], feePercent: 0n, gasUnits: 1n }])
    expect(maxAmountOut(silent, query, new Set(['pairs']))).to.equal(undefined)
    expect(maxAmountIn(silent, query, new Set(['pairs']))).to.equal(undefined)
  })
})
