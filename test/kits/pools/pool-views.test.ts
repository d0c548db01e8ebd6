import { expect } from 'chai'
import fc from 'fast-check'
import { marketPools } from '../../../core/market/market.ts'
import { valueTokens } from '../../../core/market/token-values.ts'
import { viewPools } from '../../../kits/pools/pool-views.ts'
import type { PoolsChoice } from '../../../core/contracts/index.ts'
import type { Passage, Pool, PoolProtocol } from '../../../kits/amm/index.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { algebraProtocol } from '../../../kits/amm/algebra/pools.ts'
import { getSqrtRatioAtTick, maxSqrtRatioX96 } from '../../../kits/amm/v3/math.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { TickTable, type V3PoolState } from '../../../kits/amm/v3/swap.ts'
import { v4Protocol } from '../../../kits/amm/v4/pools.ts'

const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const origin = { factory: '0x0000000000000000000000000000000000000003', initCodeHash: `0x${'00'.repeat(32)}` }
const pairs = v2Protocol('v2', [3n, 1000n], origin)
const ranges = v3Protocol({ version: 'v3', fees: [3000], ...origin })
const address = '0x0000000000000000000000000000000000000004'
const forward: Passage = { tokenIn: tokens[0], tokenOut: tokens[1] }

/** Whether a sale of so much gets the price of the smallest amounts but for so many basis points, in exact fractions. */
function isWithin<S>(protocol: PoolProtocol<S>, pool: Pool<S>, inRaw: bigint, basisPoints: bigint): boolean | 'unknown' {
  const passed = protocol.pass(pool, forward, 'in', inRaw)
  if (passed !== undefined && 'missing' in passed) return 'unknown'
  const { numerator, denominator } = protocol.spot(pool, forward)
  // The fee of both is 0.3 %.
  return passed !== undefined && passed.amountRaw * denominator * 10_000_000n >= inRaw * numerator * 997n * (10_000n - basisPoints)
}

let compared = 0
let unknown = 0
async function expectDepth<S>(protocol: PoolProtocol<S>, pool: Pool<S>): Promise<void> {
  const known = { protocol: protocol as PoolProtocol, pool }
  const [view] = await viewPools([known], [forward], { depths: [13, 100, 200, 1_000], most: 1 })
  for (const { basisPoints, sellRaw, atLeast } of view?.depth ?? []) {
    if (sellRaw > 0n) expect(isWithin(protocol, pool, sellRaw, BigInt(basisPoints)), `${basisPoints}: ${sellRaw}`).to.equal(true)
    // A thousandth more is too much. Where few units come out, the price goes up and down from one to the next.
    const passed = protocol.pass(pool, forward, 'in', sellRaw)
    if (!passed || 'missing' in passed || passed.amountRaw < 10n ** 8n) continue
    compared += 1
    const more = isWithin(protocol, pool, sellRaw + sellRaw / 1000n + 2n, BigInt(basisPoints))
    expect(more, `more than ${sellRaw}`).to.not.equal(true)
    // It may also be the other direction of which more is not known.
    if (!atLeast) expect(more, `more than ${sellRaw}`).to.equal(false)
    else if (more === 'unknown') unknown += 1
  }
}

describe('the depth of a pool', () => {
  beforeEach(() => (compared = unknown = 0))
  afterEach(() => expect(compared).to.be.above(20))
  const reserve = fc.bigInt({ min: 10n ** 9n, max: 2n ** 112n - 1n })

  it('gives the largest amount at that price of a pair, to a thousandth', () =>
    fc.assert(
      fc.asyncProperty(reserve, reserve, (reserve0Raw, reserve1Raw) =>
        expectDepth(pairs, { address, tokens, state: { reserve0Raw, reserve1Raw } }),
      ),
    ))

  it('gives the largest known amount of a pool of concentrated liquidity, and says where more may be possible', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 10n ** 9n, max: 10n ** 28n }),
        fc.integer({ min: -200_000, max: 200_000 }),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        (liquidity, tick, reach, isWhole) => {
          const near = { gross: () => liquidity / 3n, net: (index: number) => (index === 0 ? liquidity / 3n : -liquidity / 3n) }
          const [from, to] = isWhole ? [-887_273, 887_273] : [tick - 2 * reach - 1, tick + 2 * reach + 1]
          const ticks = new TickTable(from, to, [tick - reach, tick + reach], near)
          const state = { sqrtPriceX96: getSqrtRatioAtTick(tick), tick, liquidity, fee: 3000, tickSpacing: 1, ticks }
          return expectDepth(ranges, { address, tokens, state })
        },
      ),
    )
    expect(unknown).to.be.above(5)
  })
})

describe('a pool that has nothing to give in a direction', () => {
  const back: Passage = { tokenIn: tokens[1], tokenOut: tokens[0] }
  const integral = algebraProtocol({ version: 'integral', kind: 'integral', deployment: { poolDeployer: origin.factory, ...origin } })
  const kept = v4Protocol({ version: 'v4', manager: origin.factory, poolsBetween: () => [] })
  const kinds = {
    v3: (range: V3PoolState) => ({ protocol: ranges as PoolProtocol, state: range as unknown }),
    algebra: (range: V3PoolState) => ({ protocol: integral as PoolProtocol, state: { range, pluginConfig: 0 } }),
    v4: (range: V3PoolState) => ({ protocol: kept as PoolProtocol, state: { zeroForOne: range, oneForZero: range } }),
  }
  const position = { gross: () => 10n ** 18n, net: (index: number) => (index % 2 === 0 ? 10n ** 18n : -(10n ** 18n)) }
  const wholeTable = (ticks: readonly number[]) => new TickTable(-887_273, 887_273, ticks, position)
  const at = (tick: number, liquidity: bigint, ticks: readonly number[], sqrtPriceX96 = getSqrtRatioAtTick(tick)): V3PoolState => ({
    sqrtPriceX96,
    tick,
    liquidity,
    fee: 3000,
    tickSpacing: 1,
    ticks: wholeTable(ticks),
  })

  async function viewsOf(kind: keyof typeof kinds, range: V3PoolState) {
    const { protocol, state } = kinds[kind](range)
    const views = await viewPools([{ protocol, pool: { address, tokens, state } }], [forward, back], { depths: [100], most: 2 })
    return [forward, back].map(({ tokenIn }) => views.find((view) => view.tokenIn === tokenIn))
  }

  for (const kind of ['v3', 'algebra', 'v4'] as const) {
    it(`has the pool's own price there, and says that it gives nothing (${kind})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: -200_000, max: 200_000 }), fc.integer({ min: 1, max: 5_000 }), async (tick, gap) => {
          const priceX192 = getSqrtRatioAtTick(tick) ** 2n
          const [below, above] = [at(tick, 0n, [tick - gap - 10, tick - gap]), at(tick, 0n, [tick + gap, tick + gap + 10])]
          const [sellAbove, sellBackAbove] = await viewsOf(kind, above)
          expect(sellAbove?.spot).to.deep.equal({ numerator: priceX192, denominator: 2n ** 192n })
          expect(sellAbove?.noLiquidityFor).to.deep.equal(['SELL'])
          expect(sellAbove?.depth[0]?.sellRaw).to.equal(0n)
          // The other way the first unit is traded at the first tick with liquidity.
          expect(sellBackAbove?.spot).to.deep.equal({ numerator: 2n ** 192n, denominator: getSqrtRatioAtTick(tick + gap) ** 2n })
          expect(sellBackAbove?.noLiquidityFor).to.deep.equal(['BUY'])
          const [sellBelow, sellBackBelow] = await viewsOf(kind, below)
          expect(sellBelow?.noLiquidityFor).to.deep.equal(['BUY'])
          expect(sellBackBelow?.spot).to.deep.equal({ numerator: 2n ** 192n, denominator: priceX192 })
          expect(sellBackBelow?.noLiquidityFor).to.deep.equal(['SELL'])
          expect(sellBackBelow?.depth[0]?.sellRaw).to.equal(0n)
        }),
        { numRuns: 40 },
      )
    })

    it(`has a price that has come to either end, or liquidity from nobody (${kind})`, async () => {
      const ends = [-887_272, 887_272]
      const [lowest, highest] = [at(-887_272, 10n ** 18n, ends, 4295128740n), at(887_271, 10n ** 18n, ends, maxSqrtRatioX96 - 1n)]
      for (const [state, nothing] of [
        [lowest, [['SELL'], ['BUY']]],
        [highest, [['BUY'], ['SELL']]],
        [
          at(0, 0n, []),
          [
            ['SELL', 'BUY'],
            ['SELL', 'BUY'],
          ],
        ],
        [at(0, 10n ** 18n, ends), [undefined, undefined]],
      ] as const) {
        const views = await viewsOf(kind, state)
        expect(views.map((view) => view?.noLiquidityFor)).to.deep.equal(nothing)
        expect(views[0]?.spot).to.deep.equal({ numerator: state.sqrtPriceX96 ** 2n, denominator: 2n ** 192n })
      }
    })
  }
})

describe('the pools that are shown', () => {
  const addressOf = (index: number) => `0x${index.toString(16).padStart(40, 'a')}`
  /** Each second one is as deep as the one before it. */
  const pools = Array.from({ length: 40 }, (_, index) => {
    const reserve = 10n ** 20n * BigInt(1 + (((index * 7) % 40) >> 1))
    return {
      protocol: pairs,
      pool: { address: addressOf(index), tokens, state: { reserve0Raw: reserve, reserve1Raw: reserve } },
    }
  })
  const shown = async (choice: Omit<PoolsChoice, 'depths'>) => viewPools(pools, [forward], { depths: [100, 200], ...choice })

  it('come deepest first, equally deep ones by their addresses, as many as were asked for', async () => {
    const all = await shown({ most: 100 })
    const sorted = all.toSorted((one, other) => {
      const [deep, otherDeep] = [one.depth[1]?.sellRaw ?? 0n, other.depth[1]?.sellRaw ?? 0n]
      return deep === otherDeep ? (one.pool < other.pool ? -1 : 1) : deep > otherDeep ? -1 : 1
    })
    expect(all).to.have.length(40)
    expect(all).to.deep.equal(sorted)
    for (const most of [0, 1, 7, 39, 40]) expect(await shown({ most }), String(most)).to.deep.equal(all.slice(0, most))
  })

  it('have their depth searched for once for each state of a pool', async () => {
    let passes = 0
    const counting = { ...pairs, pass: (...given: Parameters<typeof pairs.pass>) => ((passes += 1), pairs.pass(...given)) }
    const known = pools.map(({ pool }) => ({ protocol: counting, pool: { ...pool } }))
    const choice = { depths: [100, 200], most: 7 }
    const first = await viewPools(known, [forward], choice)
    expect(passes).to.be.above(0)
    passes = 0
    expect(await viewPools(known, [forward], { ...choice, depths: [100, 200] })).to.deep.equal(first)
    expect(passes, 'the same again').to.equal(0)
    const [one, ...others] = known
    if (!one) throw new Error('There is none.')
    const changed = { ...one, pool: { ...one.pool, state: { reserve0Raw: 10n ** 24n, reserve1Raw: 10n ** 24n } } }
    const [deepest] = await viewPools([changed, ...others], [forward], choice)
    expect(deepest?.pool).to.equal(one.pool.address)
    expect(passes).to.be.within(1, 200)
    passes = 0
    await viewPools(known, [forward], { ...choice, depths: [50] })
    expect(passes, 'for other depths').to.be.above(0)
  })

  it('include those of one version only, or the one of an address in any letters', async () => {
    expect(await shown({ most: 3, version: 'v2' })).to.have.length(3)
    expect(await shown({ most: 3, version: 'v3' })).to.deep.equal([])
    const one = await shown({ most: 3, pool: `0x${addressOf(12).slice(2).toUpperCase()}` })
    expect(one.map(({ pool }) => pool)).to.deep.equal([addressOf(12)])
  })
})

describe('the market by the pools of a pair', () => {
  const [coin, usdc] = tokens
  let pools = 0
  const poolAt = (tick: number, liquidity: bigint) => {
    const edge = { gross: () => liquidity, net: () => 0n }
    const state = {
      sqrtPriceX96: getSqrtRatioAtTick(tick),
      tick,
      liquidity,
      fee: 3000,
      tickSpacing: 1,
      ticks: new TickTable(-887_273, 887_273, [], edge),
    }
    const name = `0x${(pools += 1).toString(16).padStart(40, '0')}`
    return { protocol: ranges as PoolProtocol, pool: { address: name, tokens, state } as Pool }
  }

  it('is that of the pools that hold much, however many others take a token for nothing', async () => {
    // Two with 10^18 units of USDC near a price of 1, and eight with a millionth of that at 10^-24 of the price.
    const honest = [poolAt(0, 10n ** 18n), poolAt(10, 10n ** 18n)]
    const dust = Array.from({ length: 8 }, () => poolAt(-552_600, 10n ** 24n))
    const found = await viewPools([...dust, ...honest], [{ tokenIn: coin, tokenOut: usdc }], marketPools)
    const sold = found.map(({ depth }) => depth[0]?.sellRaw ?? 0n)
    expect(sold.filter((raw) => raw > 10n ** 30n)).to.have.length(8)
    const { values, deep } = valueTokens(
      { pools: found.map((view) => ({ connector: 'exchange', view })), books: [] },
      { reference: { address: usdc, decimals: 6 }, between: [], minDepthMicros: 10n ** 15n },
    )
    expect([...deep]).to.have.members(honest.map(({ pool }) => pool.address))
    expect(values.get(coin)?.sources).to.equal(2)
  })
})
