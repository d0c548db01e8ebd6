// A quote does not depend on what was asked before: of pools whose ticks are read step by step it is the same as of pools that are known whole.
import { expect } from 'chai'
import { TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'
import { bestRoute } from '../../../../kits/pools/routing/best-route.ts'
import { poolGraphOf, type PoolGraph } from '../../../../kits/pools/routing/graph.ts'
import { bestSplit } from '../../../../kits/pools/routing/split.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { randomWorld, type World } from './random-worlds.ts'

/** A chain that many windows of ticks are read of, and more. */
const mostReads = 200

/** Only so many windows of ticks to both sides of the price, each of so many ticks. */
function knownAround(state: V3PoolState, windows: number, ticksEach: number): V3PoolState {
  const { ticks, tick, tickSpacing } = state
  const size = ticksEach * tickSpacing
  const middle = Math.floor(tick / size)
  const from = Math.max(ticks.from, (middle - windows) * size)
  const to = Math.min(ticks.to, (middle + windows + 1) * size)
  if (from === ticks.from && to === ticks.to) return state
  const first = ticks.countUpTo(from)
  const kept = ticks.ticks.filter((each) => each > from && each < to)
  const liquidity = { gross: () => 1n, net: (index: number) => ticks.liquidity.net(first + index) }
  return { ...state, ticks: new TickTable(from, to, kept, liquidity) }
}

/** What is given for the swap, or what to read before. */
function answer({ query, options, swap, gasCost }: World, graph: PoolGraph) {
  const { best, missing } = bestRoute(graph, query, options, gasCost)
  const split = best && bestSplit(graph, { swap, query, options, gasCost, best })
  if (!split || 'missing' in split)
    return { given: best && [best.amountRaw, best.edges.map(({ pool }) => pool.address)], missing: [...missing, ...(split?.missing ?? [])] }
  return { given: [split.amountRaw, split.parts.map(({ share, edges }) => [share, edges.map(({ pool }) => pool.address)])], missing }
}

/** The same, where each pool's ticks are read as they are asked for. */
function answerStepByStep(world: World, ticksEach: number) {
  const windows = new Map<string, number>()
  for (let reads = 0; reads < mostReads; reads += 1) {
    const pools = world.graph.pools.map(({ protocol, pool }) => {
      if (protocol.version !== 'v3') return { protocol, pool }
      const state = knownAround(pool.state as V3PoolState, windows.get(pool.address) ?? 0, ticksEach)
      return { protocol, pool: { ...pool, state } }
    })
    const { given, missing } = answer(world, poolGraphOf(pools))
    if (missing.length === 0) return given
    for (const { pool } of missing) windows.set(pool, 2 * (windows.get(pool) ?? 0) + 1)
  }
  return expect.fail(`After ${mostReads} reads it still asks.`)
}

const holds = (kind: World['kind'], seed: number, ticksEach: number) => {
  const world = randomWorld(kind, randomBits(seed))
  expect(answerStepByStep(world, ticksEach), `${kind} ${seed}`).to.deep.equal(answer(world, world.graph).given)
}

/** A factor from a millionth to a thousand, by a whole number. */
const scaled = (amountRaw: bigint, step: number) => (amountRaw * 2n ** BigInt(step)) / 1_000_000n + 1n

describe('what a pool gives at best whose ticks are not all known', function () {
  this.timeout(120_000)

  it('is no less than what it gives, and hardly more for an amount that just passes the known ones', () => {
    let [bounds, tight] = [0, 0]
    for (let seed = 1; seed <= 150; seed += 1) {
      const { graph, query } = randomWorld('v3', randomBits(seed), 8)
      for (const { protocol, pool } of graph.pools) {
        const part = { ...pool, state: knownAround(pool.state as V3PoolState, 0, 8) }
        const [tokenIn = '', tokenOut = ''] = pool.tokens
        for (const passage of [
          { tokenIn, tokenOut },
          { tokenIn: tokenOut, tokenOut: tokenIn },
        ])
          for (const exact of ['in', 'out'] as const)
            for (let step = 0; step < 30; step += 1) {
              const amountRaw = scaled(query.amountRaw, step)
              const atBest = protocol.pass(part, passage, exact, amountRaw)
              const passed = protocol.pass(pool, passage, exact, amountRaw)
              if (!atBest || !('missing' in atBest) || atBest.atBestRaw === undefined || !passed || 'missing' in passed) continue
              bounds += 1
              const [most, least] = exact === 'in' ? [atBest.atBestRaw, passed.amountRaw] : [passed.amountRaw, atBest.atBestRaw]
              expect(most >= least, `${seed} ${pool.address} ${exact} ${amountRaw}: ${most} and ${least}`).to.equal(true)
              if (Number(most) < Number(least) * 1.001) tight += 1
            }
      }
    }
    expect([bounds > 1_000, tight > bounds / 20], `${bounds} bounds, ${tight} near`).to.deep.equal([true, true])
  })
})

describe('a quote of pools whose ticks are not all known', function () {
  this.timeout(120_000)

  for (const [seed, what] of [
    [13_180, 'takes the smaller amount of a pool with unknown ticks, and refuses what that might give at most'],
    [13_274, 'refuses the most that two pools before it might give'],
  ] as const)
    it(`passes a pool that ${what}`, () => holds('v3', seed, 16))

  for (const [seed, what] of [
    [52_673, 'uses less gas than one that gives as much'],
    [50_030, 'would have to take more than it gives for, where its known ticks end'],
    [64_744, 'is not among the first of so many whose ticks are unknown'],
  ] as const)
    it(`divides a swap so that it includes one that ${what}`, () => holds('uniswap', seed, 4))

  it('equals that of pools that are known whole, in random worlds', () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      holds('v3', seed, 16)
      holds('uniswap', seed, 8)
    }
  })
})
